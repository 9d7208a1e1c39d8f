// Every executed instruction of arithmetic against the words of AMD's guide, over the corners of its sources.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "alu_fixture.hpp"
#include "alu_names.hpp"
#include "corner_rows.hpp"

namespace rung::amdgpu {
namespace {

using namespace corner;

void expect_all(std::span<const CornerRow> rows) {
  for (const CornerRow& row : rows) {
    expect_corners(row);
    if (::testing::Test::HasFatalFailure()) return;
  }
}
TEST(Corners, WholeNumbers) { expect_all(whole_number_corners()); }
TEST(Corners, Bits) { expect_all(bit_corners()); }
TEST(Corners, ShortNumbers) { expect_all(short_corners()); }
TEST(Corners, Floats) { expect_all(float_corners()); }
TEST(Corners, Halves) { expect_all(half_corners()); }
TEST(Corners, Conversions) { expect_all(conversion_corners()); }
TEST(Corners, StepsOfDivisions) { expect_all(division_corners()); }

// What has no corners of numbers, or is tested by a family of its own: comparisons by all relations, conversions with
// scales and of 8 bits over all codes, moves between lanes, the bits of a truth table, 2 / pi, and control.
bool is_elsewhere(std::string_view name) {
  constexpr std::string_view kWords[] = {
      "_cmp_class_", "_cmpx_class_", "fp8",      "bf8",       "_cvt_sr_",     "readfirstlane", "readlane", "writelane",
      "v_swap_",     "permlane",     "accvgpr",  "bitop3",    "v_trig_preop", "v_mqsad_u32",   "v_prng",   "v_pk_mov",
      "v_nop",       "clrexcp",      "gpr_idx",  "s_movrel",  "getreg",       "setreg",        "s_getpc",  "s_setpc",
      "s_swappc",    "s_call",       "s_branch", "s_cbranch", "s_endpgm",     "s_trap",        "s_nop",    "s_sleep",
      "s_setprio",   "s_sethalt",    "s_wakeup", "s_sendmsg", "s_icache_inv", "perflevel",     "s_ttrace", "s_setkill"};
  if (is_vector_comparison(name) || is_scalar_comparison(name) || is_scaled_conversion(name)) return true;
  return std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

TEST(Corners, OfEveryExecutedInstructionStandInATable) {
  std::set<std::string_view> rows;
  for (const auto& table : {whole_number_corners(), bit_corners(), short_corners(), float_corners(), half_corners(),
                            conversion_corners(), division_corners()})
    for (const CornerRow& row : table) EXPECT_TRUE(rows.insert(name_of(row.opcode)).second) << name_of(row.opcode);
  for (const Opcode opcode : scalar_corner_opcodes()) rows.insert(name_of(opcode));
  for (const std::string_view name : opcode_names()) {
    const Row& row = row_of(opcode_named(name));
    Instruction i = instruction(row.opcode, v(2, row.destination.registers), {});
    i.source_count = row.source_count;
    for (int k = 0; k < row.source_count; ++k) i.sources[k] = v(static_cast<uint16_t>(8 * k), row.sources[k].registers);
    if (!alu_handler(i, Isa::gfx950)) continue;
    EXPECT_TRUE(rows.contains(name) || is_elsewhere(name)) << name;
  }
  EXPECT_GT(rows.size(), 350u);
}

}  // namespace
}  // namespace rung::amdgpu
