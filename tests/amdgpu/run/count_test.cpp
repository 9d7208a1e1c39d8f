// The classes in which executed instructions are counted, and sums of counts.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "amdgpu/isa/opcode_rows.hpp"
#include "amdgpu/run/alu/alu_names.hpp"

namespace rung::amdgpu {
namespace {

TEST(Counts, EachInstructionIsOfItsClass) {
  using enum OperationClass;
  const struct {
    const char* name;
    OperationClass expected;
  } rows[] = {{"s_waitcnt", wait},
              {"s_barrier", barrier},
              {"s_branch", branch},
              {"s_cbranch_scc0", branch},
              {"s_cbranch_execz", branch},
              {"s_setpc_b64", branch},
              {"s_swappc_b64", branch},
              {"s_getpc_b64", scalar},
              {"s_add_u32", scalar},
              {"s_cmp_eq_u32", scalar},
              {"s_load_dword", scalar},
              {"s_nop", scalar},
              {"ds_read_b32", lds_read},
              {"ds_read2st64_b64", lds_read},
              {"ds_write_b8", lds_write},
              {"ds_write2_b32", lds_write},
              {"ds_bpermute_b32", vector},
              {"ds_permute_b32", vector},
              {"ds_swizzle_b32", vector},
              {"ds_nop", vector},
              {"ds_add_u32", atomic},
              {"ds_add_rtn_f32", atomic},
              {"ds_append", atomic},
              {"global_load_dword", global_load},
              {"global_store_dwordx4", global_store},
              {"global_atomic_add", atomic},
              {"flat_load_ubyte", global_load},
              {"flat_store_short", global_store},
              {"flat_atomic_cmpswap", atomic},
              {"buffer_load_dwordx2", global_load},
              {"buffer_store_byte", global_store},
              {"buffer_atomic_add", atomic},
              {"buffer_wbinvl1", scalar},
              {"scratch_load_dword", scratch},
              {"scratch_store_dwordx4", scratch},
              {"v_add_f32", vector},
              {"v_cmp_eq_u32", vector},
              {"v_mfma_f32_32x32x1_2b_f32", matrix},
              {"v_pk_fma_f32", vector}};
  for (const auto& row : rows) {
    const Opcode opcode = opcode_named(row.name);
    const Instruction instruction{.opcode = opcode, .encoding = row_of(opcode).encoding};
    EXPECT_EQ(class_of(instruction), row.expected) << row.name;
  }
  for (const std::string_view name : opcode_names())
    if (name.starts_with("v_mfma") || name.starts_with("v_smfmac")) {
      const Opcode opcode = opcode_named(name);
      EXPECT_EQ(class_of({.opcode = opcode, .encoding = row_of(opcode).encoding}), matrix) << name;
    }
}

// All numbers before the map are counts; none is forgotten, none goes to another.
TEST(Counts, AddEachNumberToItsOwn) {
  constexpr size_t kNumbers = (sizeof(Counts) - sizeof(Counts::by_opcode)) / sizeof(uint64_t);
  using Numbers = std::array<uint64_t, kNumbers>;
  const auto numbers_of = [](const Counts& counts) {
    Numbers numbers;
    std::memcpy(numbers.data(), static_cast<const void*>(&counts), sizeof numbers);
    return numbers;
  };
  Counts sum, more;
  Numbers first, second;
  for (size_t n = 0; n < kNumbers; ++n) first[n] = n + 1, second[n] = 1000 * (n + 1);
  std::memcpy(static_cast<void*>(&sum), first.data(), sizeof first);
  std::memcpy(static_cast<void*>(&more), second.data(), sizeof second);
  sum.by_opcode = {{Opcode::s_barrier, 1}, {Opcode::s_nop, 2}};
  more.by_opcode = {{Opcode::s_nop, 5}, {Opcode::s_endpgm, 7}};
  sum.add(more);
  const Numbers got = numbers_of(sum);
  for (size_t n = 0; n < kNumbers; ++n) EXPECT_EQ(got[n], 1001 * (n + 1)) << "number " << n;
  EXPECT_EQ(sum.by_opcode,
            (std::map<Opcode, uint64_t>{{Opcode::s_barrier, 1}, {Opcode::s_nop, 7}, {Opcode::s_endpgm, 7}}));
}

}  // namespace
}  // namespace rung::amdgpu
