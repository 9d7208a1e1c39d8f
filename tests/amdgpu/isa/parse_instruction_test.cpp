// An assembler's lines are read as the machine code is that they stand for.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/parse_instruction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "amdgpu/isa/decode.hpp"

namespace rung::amdgpu {
namespace {

std::string text_of(const InstructionOperand& operand) {
  static constexpr const char* kLetters[] = {"-", "v", "a", "s", "c"};
  if (operand.kind == OperandKind::none) return "-";
  if (operand.kind == OperandKind::constant) return "c";
  return fmt::format("{}{}{}{}:{}", operand.neg ? "-" : "", operand.abs ? "|" : "",
                     kLetters[static_cast<size_t>(operand.kind)], operand.number, operand.registers);
}

// What a listing is read for.
std::string facts_of(const Instruction& made) {
  std::string text = fmt::format("{} {} {}", name_of(made.opcode), text_of(made.destination), text_of(made.carry_out));
  for (size_t s = 0; s < made.source_count; ++s) {
    InstructionOperand source = made.sources[s];
    if (made.encoding == Encoding::vop3p) source.neg = source.abs = false;  // stands in modifiers that are not read
    text += " " + text_of(source);
  }
  const bool cached = made.encoding != Encoding::smem || made.source_count;  // else the bit means nothing
  constexpr int kCounters = 0xcf7f;                                          // of a wait's bits, those that do
  const int immediate = made.opcode == Opcode::s_waitcnt ? made.immediate & kCounters : made.immediate;
  const bool swizzles = made.opcode == Opcode::ds_swizzle_b32;  // its offset is a pattern of lanes
  return text + fmt::format(" offset {} sc0 {} sc1 {} nt {} lds {} offen {} idxen {} immediate {}",
                            swizzles ? 0 : made.memory.offset, cached && made.memory.sc0, made.memory.sc1,
                            made.memory.nt, made.memory.lds, made.memory.offen, made.memory.idxen,
                            made.encoding == Encoding::sopp ? static_cast<int16_t>(immediate) : 0);
}

// Floating-point constants are not read: they are symbols.
bool has_float(const Instruction& made) {
  return std::any_of(
      made.sources.begin(), made.sources.begin() + made.source_count, [](const InstructionOperand& source) {
        return source.kind == OperandKind::constant && (source.bits > 64 && source.bits + 16 > 16) && !source.literal;
      });
}

struct Line {
  Isa isa;
  std::vector<uint32_t> words;
  std::string text;
};

std::vector<Line> recorded() {
  std::ifstream file(RUNG_TEST_DATA "/amd_instructions.txt");
  std::vector<Line> all;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream in(line);
    std::string word;
    in >> word;
    Line one{*isa_named(word), {}, {}};
    while (in >> word && word != ":") one.words.push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
    std::getline(in >> std::ws, one.text);
    all.push_back(one);
  }
  return all;
}

TEST(AmdParse, LinesAreReadAsTheirMachineCodeIs) {
  size_t compared = 0;
  for (const Line& line : recorded()) {
    const auto decoded = decode(std::as_bytes(std::span(line.words)), line.isa);
    ASSERT_TRUE(decoded) << line.text;
    const auto parsed = parse_instruction(line.text);
    ASSERT_TRUE(parsed) << line.text;
    if (has_float(*decoded)) continue;
    EXPECT_EQ(facts_of(parsed->instruction), facts_of(*decoded)) << line.text;
    ++compared;
  }
  EXPECT_GT(compared, 2000u);
}

std::string facts_of_text(std::string_view line) {
  const auto parsed = parse_instruction(line);
  return parsed ? facts_of(parsed->instruction) : "none";
}

TEST(AmdParse, CompilersSpellSomeThingsOtherwise) {
  EXPECT_EQ(facts_of_text("s_waitcnt vmcnt(0) & lgkmcnt(0)"), facts_of_text("s_waitcnt vmcnt(0) lgkmcnt(0)"));
  EXPECT_EQ(parse_instruction("s_waitcnt vmcnt(17)")->instruction.immediate, 0x4f71);
  EXPECT_EQ(parse_instruction("s_waitcnt 0")->instruction.immediate, 0);
  const auto branch = parse_instruction("s_cbranch_scc1\t.LBB0_3");
  ASSERT_TRUE(branch);
  EXPECT_EQ(branch->goal, ".LBB0_3");
  const auto symbol = parse_instruction("s_add_u32 s4, s4, table@rel32@lo+4");
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->instruction.sources[1].kind, OperandKind::scalar);
  EXPECT_EQ(facts_of_text("v_mov_b32_e32 v[4], s[5]"), facts_of_text("v_mov_b32_e32 v4, s5"));
}

TEST(AmdParse, ConstantsHaveTheWidthOfTheirOperand) {
  EXPECT_EQ(parse_instruction("v_add_u32_e32 v1, -4, v2")->instruction.sources[0].bits, 0xfffffffcu);
  EXPECT_EQ(parse_instruction("s_mov_b64 s[0:1], -4")->instruction.sources[0].bits, ~uint64_t{3});
  EXPECT_EQ(parse_instruction("v_lshlrev_b32_e32 v1, 0x10, v2")->instruction.sources[0].bits, 16u);
}

TEST(AmdParse, OnlyPlainArithmeticIsWhole) {
  EXPECT_TRUE(parse_instruction("v_add_u32_e32 v1, v2, v3")->whole);
  EXPECT_FALSE(parse_instruction("v_add_u32_dpp v1, v2, v3 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf")->whole);
  EXPECT_FALSE(parse_instruction("v_add_f32_e64 v1, v2, v3 clamp")->whole);
  EXPECT_TRUE(parse_instruction("v_bitop3_b32 v1, v2, v3, v4 bitop3:0x36")->whole);
  EXPECT_EQ(parse_instruction("v_bitop3_b32 v1, v2, v3, v4 bitop3:0x36")->instruction.immediate, 0x36);
}

TEST(AmdParse, WhatIsNoInstructionIsNone) {
  for (const char* line :
       {"", "v_no_such v1", "ds_read_b32", "global_load_dword v1", "s_waitcnt vmcnt(", "v_add_u32 v1 v2",
        "s_waitcnt vmcnt(999999999999999999999)", "s_waitcnt xcnt(0)", "s_branch", "[[[((", ",,,"})
    EXPECT_EQ(facts_of_text(line), "none") << line;
}

}  // namespace
}  // namespace rung::amdgpu
