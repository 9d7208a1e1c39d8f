// What rows refuse by the machine or by sizes alone: instructions that a processor has not, another architecture, more
// elements than a launch or a library counts. Nothing runs here.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "derived.hpp"
#include "kernels/access.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/target.hpp"
#include "support/machines.hpp"

namespace rung::test {
namespace {

cpu::CpuInfo with_all_instructions() {
  cpu::CpuInfo info = cpu::cpu_info();
  info.avx2 = info.avx512 = info.avx512_vnni = info.avx512_bf16 = info.amx_bf16 = info.amx_int8 = true;
  return info;
}

// By the end of a row's name, which is that of its source file.
struct Instructions {
  const char* suffix;
  bool cpu::CpuInfo::*flag;
};
constexpr Instructions kInstructions[] = {{"_avx2", &cpu::CpuInfo::avx2},
                                          {"_avx512", &cpu::CpuInfo::avx512},
                                          {"_avx512_vnni", &cpu::CpuInfo::avx512_vnni},
                                          {"_avx512_bf16", &cpu::CpuInfo::avx512_bf16},
                                          {"_amx_bf16", &cpu::CpuInfo::amx_bf16},
                                          {"_amx_int8", &cpu::CpuInfo::amx_int8}};

size_t taken(const Kernel& row, const Machine& machine) {
  return static_cast<size_t>(std::ranges::count_if(unanswered_cases(), [&](const Case& test) {
    return op_family(test.problem.op) == row.op && row.supports(test.problem, machine);
  }));
}

TEST(RowLimits, OfInstructionsAreTheProcessors) {
  size_t asked = 0;
  for (const auto& [suffix, flag] : kInstructions)
    for (const Kernel* row : cpu::all_kernels()) {
      if (!row->name.ends_with(suffix)) continue;
      cpu::CpuInfo without = with_all_instructions();
      without.*flag = false;
      EXPECT_GT(taken(*row, with_all_instructions()), 0u) << row->name;
      EXPECT_EQ(taken(*row, without), 0u) << row->name << " without " << suffix;
      ++asked;
    }
  EXPECT_GT(asked, 30u);
}

bool is_plain_code(const Kernel& row) {
  return row.role == Role::fallback || row.name.ends_with("_copy") || row.name.ends_with("_integers") ||
         row.name == "scatter_rows" || row.name == "cast_f8";
}

// Plain code does, and oneDNN, which looks at the processor by itself.
TEST(RowLimits, WithoutVectorsLeaveOnlyRowsThatNeedNone) {
  cpu::CpuInfo bare = cpu::cpu_info();
  bare.avx2 = bare.avx512 = bare.avx512_vnni = bare.avx512_bf16 = bare.amx_bf16 = bare.amx_int8 = false;
  for (const Kernel* row : cpu::all_kernels())
    if (!is_plain_code(*row) && !row->name.ends_with("_onednn")) {
      EXPECT_EQ(taken(*row, bare), 0u) << row->name;
    }
}

bool is_of_hopper(std::string_view name) {
  return name.ends_with("_sm90") || name == "attention_wgmma" || name == "attention_split_kv";
}

TEST(RowLimits, OfArchitecturesAreTheirRows) {
  const Machine cdna = testing::cdna(), hopper = testing::hopper(), ampere = testing::ampere();
  for (const Kernel* row : gpu::all_kernels()) {
    if (is_of_hopper(row->name)) {
      EXPECT_GT(taken(*row, hopper), 0u) << row->name;
      EXPECT_EQ(taken(*row, ampere) + taken(*row, cdna), 0u) << row->name;
    }
    if (row->name.ends_with("_cdna")) {
      EXPECT_GT(taken(*row, cdna), 0u) << row->name;
      EXPECT_EQ(taken(*row, ampere) + taken(*row, hopper), 0u) << row->name;
    }
  }
}

TEST(RowLimits, OfLibrariesThatAreNotThereAreRefused) {
  for (const Machine& machine : {testing::hopper(), testing::cdna()})
    for (const Kernel* row : gpu::all_kernels())
      if (row->role == Role::library) {
        EXPECT_EQ(taken(*row, machine), 0u) << row->name;
      }
}

// A plan's checker lets no GPU row count more than 31 bits: a row that takes such a problem would keep others from it.
TEST(RowLimits, OfCountsAreThoseOfTheChecker) {
  size_t asked = 0;
  for (const Machine& machine : {testing::hopper(), testing::cdna()})
    for (const Kernel* row : gpu::all_kernels())
      for (const Problem& problem : stretched_problems(row->op, int64_t{1} << 31)) {
        ++asked;
        if (!row->supports(problem, machine)) continue;
        const Status checked = check_result(*row, problem);
        EXPECT_TRUE(checked) << row->name << " takes " << checked.error().message;
      }
  EXPECT_GT(asked, 1000u);
}

TEST(RowLimits, OfLibrariesAreAnInt) {
  Machine machine(with_all_instructions(), testing::cdna_card(0x942));
  machine.gpu.gemm_libraries = testing::any_amd_libraries();
  machine.gpu.gemm_libraries.push_back(&testing::any_gemm_library());
  size_t asked = 0;
  for (const auto& rows : {cpu::all_kernels(), gpu::all_kernels()})
    for (const Kernel* row : rows)
      for (const Problem& problem : stretched_problems(row->op, int64_t{1} << 31)) {
        if (row->role != Role::library || row->op != "linear") continue;
        ++asked;
        bool fits = problem.output.rows() <= INT32_MAX && problem.inputs[0].shape.back() <= INT32_MAX &&
                    problem.inputs[1].shape[0] <= INT32_MAX;
        for (const Operand& operand : problem.inputs)
          fits = fits && (!operand.is_rows() || operand.row_stride() <= INT32_MAX);
        if (!fits) {
          EXPECT_FALSE(row->supports(problem, machine)) << row->name;
        }
      }
  EXPECT_GT(asked, 100u);
}

}  // namespace
}  // namespace rung::test
