// Instructions of AMD: their words to operands and modifiers, and to text as LLVM writes it.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/decode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "support/llvm_tools.hpp"

namespace rung::amdgpu {
namespace {

using Words = std::vector<uint32_t>;

Instruction must_decode(const Words& words, Isa isa = Isa::gfx942) {
  const std::optional<Instruction> made = decode(std::as_bytes(std::span(words)), isa);
  EXPECT_TRUE(made);
  return made.value_or(Instruction{});
}

std::string text_of(const Words& words, Isa isa) {
  const std::optional<Instruction> made = decode(std::as_bytes(std::span(words)), isa);
  if (!made) return "(none)";
  return std::to_string(made->bytes) + " " + to_text(*made, isa);
}

struct Recorded {
  Isa isa;
  Words words;
  std::string text;
};

std::vector<Recorded> recorded() {
  std::ifstream file(RUNG_TEST_DATA "/amd_instructions.txt");
  std::vector<Recorded> all;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream in(line);
    Recorded one;
    std::string word;
    in >> word;
    one.isa = *isa_named(word);
    while (in >> word && word != ":") one.words.push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
    std::getline(in >> std::ws, one.text);
    all.push_back(one);
  }
  return all;
}

TEST(AmdDecode, WritesWhatLlvmRecorded) {
  const std::vector<Recorded> all = recorded();
  ASSERT_GT(all.size(), 2500u);
  for (const Recorded& one : all)
    EXPECT_EQ(text_of(one.words, one.isa), std::to_string(4 * one.words.size()) + " " + one.text)
        << info_of(one.isa).name;
}

TEST(AmdDecode, EveryNameIsRecorded) {
  std::set<Opcode> seen;
  for (const Recorded& one : recorded()) seen.insert(must_decode(one.words, one.isa).opcode);
  std::set<std::string_view> missing;
  for (uint16_t i = 0; i <= static_cast<uint16_t>(Opcode::v_xor_b32); ++i)
    if (!seen.count(static_cast<Opcode>(i))) missing.insert(name_of(static_cast<Opcode>(i)));
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST(AmdDecode, NothingWhereCodeEndsWithinAnInstruction) {
  for (const Recorded& one : recorded()) {
    const Words shorter(one.words.begin(), one.words.end() - 1);
    const std::optional<Instruction> made = decode(std::as_bytes(std::span(shorter)), one.isa);
    // Of a product with scales, the first half stands for itself.
    EXPECT_TRUE(!made || made->opcode == Opcode::v_mfma_ld_scale_b32) << one.text;
  }
}

TEST(AmdDecode, FieldsOfShortVectorInstructions) {
  const Instruction add = must_decode({0x02060505});  // v_add_f32 v3, v5, v2
  EXPECT_EQ(add.opcode, Opcode::v_add_f32);
  EXPECT_EQ(add.encoding, Encoding::vop2);
  EXPECT_EQ(add.destination.number, 3);
  EXPECT_EQ(add.sources[0].kind, OperandKind::vgpr);
  EXPECT_EQ(add.sources[0].number, 5);
  EXPECT_EQ(add.sources[1].number, 2);
  EXPECT_EQ(add.source_count, 2);

  const Instruction mask = must_decode({0x00060505});
  EXPECT_EQ(mask.opcode, Opcode::v_cndmask_b32);
  EXPECT_EQ(mask.source_count, 3);
  EXPECT_EQ(mask.sources[2].kind, OperandKind::scalar);
  EXPECT_EQ(mask.sources[2].number, kVcc);
  EXPECT_EQ(mask.sources[2].registers, 2);

  const Instruction compare = must_decode({0x7c820505});
  EXPECT_EQ(compare.opcode, Opcode::v_cmp_lt_f32);
  EXPECT_EQ(compare.destination.number, kVcc);

  const Instruction carry = must_decode({0x38060505});
  EXPECT_EQ(carry.opcode, Opcode::v_addc_co_u32);
  EXPECT_EQ(carry.carry_out.number, kVcc);
  EXPECT_EQ(carry.sources[2].number, kVcc);
}

struct Constant {
  uint32_t word;
  std::vector<uint32_t> behind;
  uint64_t bits;
  bool literal;
};

TEST(AmdDecode, ConstantsHaveTheFormOfTheirType) {
  const Constant cases[] = {
      {0x020604f2, {}, 0x3f800000, false},          // v_add_f32 v3, 1.0, v2
      {0x3e0604f2, {}, 0x3c00, false},              // v_add_f16 v3, 1.0, v2
      {0x020604c1, {}, 0xffffffff, false},          // v_add_f32 v3, -1, v2
      {0x4c0604c1, {}, 0xffff, false},              // v_add_u16 v3, -1, v2
      {0x7e0830f2, {}, 0x3ff0000000000000, false},  // v_ceil_f64 v[4:5], 1.0
      {0x7e0830ff, {0x40080000}, 0x4008000000000000, true},
      {0xbe8201ff, {0xfffffff0}, 0xfffffff0, true},  // s_mov_b64 s[2:3], 0xfffffff0
      {0xbe8201d0, {}, 0xfffffffffffffff0, false},   // s_mov_b64 s[2:3], -16
      {0x020604f8, {}, 0x3e22f983, false},           // 1 / (2 pi)
  };
  for (const Constant& one : cases) {
    Words words{one.word};
    words.insert(words.end(), one.behind.begin(), one.behind.end());
    const Instruction made = must_decode(words);
    EXPECT_EQ(made.sources[0].kind, OperandKind::constant) << std::hex << one.word;
    EXPECT_EQ(made.sources[0].bits, one.bits) << std::hex << one.word;
    EXPECT_EQ(made.sources[0].literal, one.literal) << std::hex << one.word;
    EXPECT_EQ(made.bytes, one.literal ? 8 : 4) << std::hex << one.word;
  }
}

TEST(AmdDecode, ModifiersOfVop3) {
  // v_fma_f16 v1, -v2, |v3|, v4 op_sel:[1,0,0,1] clamp, as assembled
  const Instruction made = must_decode({0xd206ca01, 0x24120702});
  EXPECT_EQ(made.opcode, Opcode::v_fma_f16);
  EXPECT_TRUE(made.sources[0].neg && !made.sources[0].abs && made.sources[0].op_sel);
  EXPECT_TRUE(!made.sources[1].neg && made.sources[1].abs && !made.sources[1].op_sel);
  EXPECT_TRUE(made.clamp && made.op_sel_destination);
}

TEST(AmdDecode, PlacesOfMemoryOperands) {
  const Instruction load = must_decode({0xdc5c8010, 0x047f0002});  // global_load_dwordx4 v[4:7], v[2:3], off offset:16
  EXPECT_EQ(load.destination.registers, 4);
  EXPECT_EQ(load.source_count, 2);
  EXPECT_EQ(load.sources[0].registers, 2);
  EXPECT_EQ(load.sources[1].kind, OperandKind::none);
  EXPECT_EQ(load.memory.offset, 16);

  const Instruction store = must_decode({0xdc709ff0, 0x00040301});  // global_store_dword v1, v3, s[4:5] offset:-16
  EXPECT_EQ(store.destination.kind, OperandKind::none);
  EXPECT_EQ(store.source_count, 3);
  EXPECT_EQ(store.sources[0].registers, 1);
  EXPECT_EQ(store.sources[1].number, 3);
  EXPECT_EQ(store.sources[2].kind, OperandKind::scalar);
  EXPECT_EQ(store.sources[2].registers, 2);
  EXPECT_EQ(store.memory.offset, -16);

  const Words atomic{0xdd090000, 0x03000502};  // flat_atomic_add v3, v[2:3], v5 sc0
  EXPECT_EQ(must_decode(atomic).destination.number, 3);
  EXPECT_EQ(must_decode({atomic[0] & ~0x10000u, atomic[1]}).destination.kind, OperandKind::none);
}

TEST(AmdDecode, AccumulationRegistersAndBroadcasts) {
  const Instruction made = must_decode({0xd3e18304, 0x24123902});
  EXPECT_EQ(made.opcode, Opcode::v_mfma_f32_16x16x16_bf16);
  EXPECT_EQ(made.destination.kind, OperandKind::agpr);
  EXPECT_EQ(made.destination.registers, 4);
  EXPECT_EQ(made.sources[0].registers, 2);
  EXPECT_EQ(made.matrix.cbsz, 3);
  EXPECT_EQ(made.matrix.blgp, 1);
}

TEST(AmdDecode, NumbersDifferBetweenTargets) {
  const Words words{0xd3d48004, 0x04123902};  // 0x54: i8 on gfx90a, nothing on gfx942, f16 of 32 steps on gfx950
  EXPECT_EQ(must_decode(words, Isa::gfx90a).opcode, Opcode::v_mfma_i32_32x32x8i8);
  EXPECT_EQ(decode(std::as_bytes(std::span(words)), Isa::gfx942), std::nullopt);
  EXPECT_EQ(must_decode(words, Isa::gfx950).opcode, Opcode::v_mfma_f32_16x16x32_f16);
}

TEST(AmdDecode, RefusesWhatHasNoMeaning) {
  const Words cases[] = {
      {0xbe830104},              // s_mov_b64 s[3:4]: an odd pair
      {0x020604d1},              // an operand's code that nothing has
      {0xd82c0000, 0},           // a number of DS that nothing has
      {0xd2890005, 0x00020b04},  // v_readlane_b32 with its lane in a vector register
      {0xbefd0084},              // a scalar register that is not there
      {0xdc5c8000, 0xfe7f0002},  // four registers from v254
      {0xdc5c8000, 0x037f0002},  // four registers from v3: an odd number
  };
  for (const Words& words : cases) EXPECT_EQ(text_of(words, Isa::gfx942), "(none)") << std::hex << words[0];
}

TEST(AmdDecode, RandomWordsNeverCrash) {
  std::mt19937_64 random(20);
  size_t decoded = 0;
  for (int i = 0; i < 3'000'000; ++i) {
    const uint64_t words[2] = {random(), random()};
    for (const IsaInfo& isa : kIsas) {
      const std::optional<Instruction> made = decode(std::as_bytes(std::span(words)), isa.isa);
      if (!made) continue;
      ++decoded;
      ASSERT_TRUE(made->bytes == 4 || made->bytes == 8 || made->bytes == 12 || made->bytes == 16);
      if (i % 16 == 0) {
        ASSERT_FALSE(to_text(*made, isa.isa).empty());
      }
    }
  }
  EXPECT_GT(decoded, 1'000'000u);
}

// ---- Against the tools of LLVM that are on this machine.

bool operand_of_code_is_known(const std::string& theirs) {
  // Names that LLVM's tables share with other processors, and pairs of registers that it rounds to even numbers.
  for (const char* foreign : {"null", "src_flat_scratch", "src_pops"})
    if (theirs.find(foreign) != std::string::npos) return false;
  return true;
}

TEST(AmdDecodeLlvm, NamesRandomWordsAsLlvmDoes) {
  if (!test::have_llvm()) GTEST_SKIP() << "llvm-mc-22 is not installed";
  std::mt19937 random(21);
  for (const IsaInfo& isa : kIsas) {
    std::vector<Words> all(1200);
    for (Words& words : all)
      for (int w = 0; w < 4; ++w) words.push_back(static_cast<uint32_t>(random()));
    const std::vector<std::string> theirs = test::disassemble(all, isa.name);
    ASSERT_EQ(theirs.size(), all.size());
    size_t compared = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const std::optional<Instruction> made = decode(std::as_bytes(std::span(all[i])), isa.isa);
      if (theirs[i].empty() || !made || !operand_of_code_is_known(theirs[i])) continue;
      const std::string text = to_text(*made, isa.isa);
      EXPECT_EQ(text.substr(0, text.find(' ')), theirs[i].substr(0, theirs[i].find(' ')));
      ++compared;
    }
    EXPECT_GT(compared, 150u) << isa.name;
  }
}

TEST(AmdDecodeLlvm, AssemblesWhatIsRecordedToTheSameWords) {
  if (!test::have_llvm()) GTEST_SKIP() << "llvm-mc-22 is not installed";
  const std::vector<Recorded> all = recorded();
  for (const IsaInfo& isa : kIsas) {
    std::vector<Words> words;
    std::vector<std::string> texts;
    for (const Recorded& one : all)
      if (one.isa == isa.isa) words.push_back(one.words), texts.push_back(one.text);
    const std::vector<std::string> theirs = test::disassemble(words, isa.name);
    ASSERT_EQ(theirs.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(theirs[i], texts[i]);
  }
}

TEST(AmdDecodeLlvm, KernelsReadAsObjdumpReadsThem) {
  if (!test::have_llvm()) GTEST_SKIP() << "llvm-objdump-22 or clang++-22 is not installed";
  for (const IsaInfo& isa : kIsas) {
    const std::vector<test::Listed> listing = test::compile_and_list("/amd_sample.hip", isa.name);
    ASSERT_GT(listing.size(), 300u) << isa.name;
    for (const test::Listed& line : listing)
      EXPECT_EQ(text_of(line.words, isa.isa), std::to_string(4 * line.words.size()) + " " + line.text);
  }
}

}  // namespace
}  // namespace rung::amdgpu
