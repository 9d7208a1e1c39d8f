// Matrix instructions against products of matrices whose elements are put where AMD's documents say they stand.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/matrix/matrix.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/run/matrix/small_float.hpp"
#include "base/numeric.hpp"
#include "base/random.hpp"
#include "support/one_wave.hpp"

namespace rung::amdgpu {
namespace {

using testing::accumulator;
using testing::constant_operand;
using testing::make_instruction;
using testing::OneWave;
using testing::vector_operand;

// What an element is stored as.
enum class Stored : uint8_t { f32, f16, bf16, i8, fp8_fnuz, bf8_fnuz, fp8_ocp, bf8_ocp, fp6, bf6, fp4 };

unsigned bits_of(Stored type) {
  constexpr unsigned kBits[] = {32, 16, 16, 8, 8, 8, 8, 8, 6, 6, 4};
  return kBits[static_cast<int>(type)];
}

// Codes of 0, 1, 2, -1 and -2: exact everywhere, and so are sums of their products.
uint32_t code_of(Stored type, int value) {
  const auto pick = [&](uint32_t one, uint32_t two, uint32_t sign) {
    return value == 0 ? 0 : (std::abs(value) == 1 ? one : two) | (value < 0 ? sign : 0);
  };
  switch (type) {
    case Stored::f32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case Stored::f16:
      return pick(0x3c00, 0x4000, 0x8000);
    case Stored::bf16:
      return pick(0x3f80, 0x4000, 0x8000);
    case Stored::i8:
      return static_cast<uint8_t>(value);
    case Stored::fp8_fnuz:
      return pick(0x40, 0x48, 0x80);
    case Stored::bf8_fnuz:
      return pick(0x40, 0x44, 0x80);
    case Stored::fp8_ocp:
      return pick(0x38, 0x40, 0x80);
    case Stored::bf8_ocp:
      return pick(0x3c, 0x40, 0x80);
    case Stored::fp6:
      return pick(0x08, 0x10, 0x20);
    case Stored::bf6:
      return pick(0x0c, 0x10, 0x20);
    case Stored::fp4:
      return pick(0x2, 0x4, 0x8);
  }
  return 0;
}

// Elements of `bits` bits, packed in each lane from register `first` on.
struct Packed {
  OneWave& wave;
  unsigned first, bits;
  void put(int lane, unsigned index, uint32_t code) const {
    for (unsigned b = 0; b < bits; ++b) {
      const unsigned at = index * bits + b;
      uint32_t& word = wave.v(first + at / 32, lane);
      word = (word & ~(1u << at % 32)) | (code >> b & 1) << at % 32;
    }
  }
};

struct Case {
  Opcode opcode;
  Isa isa;
  unsigned rows, terms, blocks;
  Stored a, b;
};

// The row of a result in register `q` of lane `lane`, in its block.
struct ResultPlace {
  unsigned block, row, column;
};
ResultPlace result_place(unsigned rows, unsigned q, unsigned lane) {
  if (rows == 32) return {q / 16, 8 * (q % 16 / 4) + 4 * (lane / 32) + q % 4, lane % 32};
  if (rows == 16) return {q / 4, 4 * (lane / 16) + q % 4, lane % 16};
  return {lane / 4, q, lane % 4};
}

class Matrices {
 public:
  explicit Matrices(const Case& made) : c_(made), a_(size()), b_(size()) {
    for (size_t n = 0; n < size(); ++n) {
      a_[n] = static_cast<int>(random_bits(1, n) % 5) - 2;
      b_[n] = static_cast<int>(random_bits(2, n) % 5) - 2;
    }
  }
  int& a(unsigned block, unsigned row, unsigned k) { return a_[(block * c_.rows + row) * c_.terms + k]; }
  int& b(unsigned block, unsigned column, unsigned k) { return b_[(block * c_.rows + column) * c_.terms + k]; }
  int product(unsigned block, unsigned row, unsigned column) {
    int sum = 0;
    for (unsigned k = 0; k < c_.terms; ++k) sum += a(block, row, k) * b(block, column, k);
    return sum;
  }
  void place(OneWave& wave, unsigned first_a, unsigned first_b) {
    const unsigned per_lane = c_.rows * c_.terms * c_.blocks / 64;
    for (unsigned block = 0; block < c_.blocks; ++block)
      for (unsigned row = 0; row < c_.rows; ++row)
        for (unsigned k = 0; k < c_.terms; ++k) {
          const auto lane = static_cast<int>(row + c_.rows * (block + c_.blocks * (k / per_lane)));
          Packed{wave, first_a, bits_of(c_.a)}.put(lane, k % per_lane, code_of(c_.a, a(block, row, k)));
          Packed{wave, first_b, bits_of(c_.b)}.put(lane, k % per_lane, code_of(c_.b, b(block, row, k)));
        }
  }

 private:
  size_t size() const { return size_t{c_.blocks} * c_.rows * c_.terms; }
  Case c_;
  std::vector<int> a_, b_;
};

bool is_integer(const Case& c) { return c.a == Stored::i8; }
int value_of(const Case& c, uint32_t bits) {
  return is_integer(c) ? static_cast<int>(bits) : static_cast<int>(std::bit_cast<float>(bits));
}

unsigned registers_for(const Case& c, Stored type) { return c.rows * c.terms * c.blocks / 64 * bits_of(type) / 32; }

Instruction instruction_of(const Case& c, const InstructionOperand& result) {
  InstructionOperand added = result;
  Instruction made =
      make_instruction(c.opcode, Encoding::vop3p, result,
                       {vector_operand(0, registers_for(c, c.a)), vector_operand(32, registers_for(c, c.b)), added});
  return made;
}

using enum Stored;
const Case kDense[] = {
    {Opcode::v_mfma_f32_32x32x1_2b_f32, Isa::gfx942, 32, 1, 2, f32, f32},
    {Opcode::v_mfma_f32_16x16x1_4b_f32, Isa::gfx942, 16, 1, 4, f32, f32},
    {Opcode::v_mfma_f32_4x4x1_16b_f32, Isa::gfx942, 4, 1, 16, f32, f32},
    {Opcode::v_mfma_f32_32x32x2_f32, Isa::gfx942, 32, 2, 1, f32, f32},
    {Opcode::v_mfma_f32_16x16x4_f32, Isa::gfx942, 16, 4, 1, f32, f32},
    {Opcode::v_mfma_f32_16x16x8_xf32, Isa::gfx942, 16, 8, 1, f32, f32},
    {Opcode::v_mfma_f32_32x32x4_xf32, Isa::gfx942, 32, 4, 1, f32, f32},
    {Opcode::v_mfma_f32_32x32x4_2b_f16, Isa::gfx942, 32, 4, 2, f16, f16},
    {Opcode::v_mfma_f32_16x16x4_4b_f16, Isa::gfx942, 16, 4, 4, f16, f16},
    {Opcode::v_mfma_f32_4x4x4_16b_f16, Isa::gfx942, 4, 4, 16, f16, f16},
    {Opcode::v_mfma_f32_32x32x8_f16, Isa::gfx942, 32, 8, 1, f16, f16},
    {Opcode::v_mfma_f32_16x16x16_f16, Isa::gfx942, 16, 16, 1, f16, f16},
    {Opcode::v_mfma_f32_16x16x32_f16, Isa::gfx950, 16, 32, 1, f16, f16},
    {Opcode::v_mfma_f32_32x32x16_f16, Isa::gfx950, 32, 16, 1, f16, f16},
    {Opcode::v_mfma_f32_32x32x2bf16, Isa::gfx90a, 32, 2, 2, bf16, bf16},
    {Opcode::v_mfma_f32_16x16x8bf16, Isa::gfx90a, 16, 8, 1, bf16, bf16},
    {Opcode::v_mfma_f32_16x16x16bf16_1k, Isa::gfx90a, 16, 16, 1, bf16, bf16},
    {Opcode::v_mfma_f32_32x32x4_2b_bf16, Isa::gfx942, 32, 4, 2, bf16, bf16},
    {Opcode::v_mfma_f32_16x16x4_4b_bf16, Isa::gfx942, 16, 4, 4, bf16, bf16},
    {Opcode::v_mfma_f32_4x4x4_16b_bf16, Isa::gfx942, 4, 4, 16, bf16, bf16},
    {Opcode::v_mfma_f32_32x32x8_bf16, Isa::gfx942, 32, 8, 1, bf16, bf16},
    {Opcode::v_mfma_f32_16x16x16_bf16, Isa::gfx942, 16, 16, 1, bf16, bf16},
    {Opcode::v_mfma_f32_16x16x32_bf16, Isa::gfx950, 16, 32, 1, bf16, bf16},
    {Opcode::v_mfma_f32_32x32x16_bf16, Isa::gfx950, 32, 16, 1, bf16, bf16},
    {Opcode::v_mfma_i32_32x32x4_2b_i8, Isa::gfx942, 32, 4, 2, i8, i8},
    {Opcode::v_mfma_i32_16x16x4_4b_i8, Isa::gfx942, 16, 4, 4, i8, i8},
    {Opcode::v_mfma_i32_4x4x4_16b_i8, Isa::gfx942, 4, 4, 16, i8, i8},
    {Opcode::v_mfma_i32_16x16x16i8, Isa::gfx90a, 16, 16, 1, i8, i8},
    {Opcode::v_mfma_i32_32x32x16_i8, Isa::gfx942, 32, 16, 1, i8, i8},
    {Opcode::v_mfma_i32_16x16x32_i8, Isa::gfx942, 16, 32, 1, i8, i8},
    {Opcode::v_mfma_i32_16x16x64_i8, Isa::gfx950, 16, 64, 1, i8, i8},
    {Opcode::v_mfma_i32_32x32x32_i8, Isa::gfx950, 32, 32, 1, i8, i8},
    {Opcode::v_mfma_f32_16x16x32_bf8_fp8, Isa::gfx942, 16, 32, 1, bf8_fnuz, fp8_fnuz},
    {Opcode::v_mfma_f32_16x16x32_fp8_bf8, Isa::gfx942, 16, 32, 1, fp8_fnuz, bf8_fnuz},
    {Opcode::v_mfma_f32_32x32x16_fp8_fp8, Isa::gfx942, 32, 16, 1, fp8_fnuz, fp8_fnuz},
    {Opcode::v_mfma_f32_32x32x16_fp8_fp8, Isa::gfx950, 32, 16, 1, fp8_ocp, fp8_ocp},
    {Opcode::v_mfma_f32_16x16x32_bf8_bf8, Isa::gfx950, 16, 32, 1, bf8_ocp, bf8_ocp},
};

class DenseProducts : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Shapes, DenseProducts, ::testing::ValuesIn(kDense), [](const auto& test) {
  return std::string(name_of(test.param.opcode)) + "_" + std::string(info_of(test.param.isa).name);
});

TEST_P(DenseProducts, AreTheMatricesProductPlusC) {
  const Case& c = GetParam();
  for (const bool accumulators : {false, true}) {
    OneWave wave(c.isa);
    Matrices matrices(c);
    matrices.place(wave, 0, 32);
    const unsigned count = c.rows * c.rows * c.blocks / 64, first = accumulators ? Wave::kFirstAgpr : 64;
    for (unsigned q = 0; q < count; ++q)
      for (unsigned lane = 0; lane < 64; ++lane)
        wave.v(first + q, static_cast<int>(lane)) =
            is_integer(c) ? q + lane : std::bit_cast<uint32_t>(static_cast<float>(q + lane));
    wave.wave().set_exec(0x5);  // does not matter
    wave.run(instruction_of(c, accumulators ? accumulator(0, count) : vector_operand(64, count)));
    for (unsigned q = 0; q < count; ++q)
      for (unsigned lane = 0; lane < 64; ++lane) {
        const auto [block, row, column] = result_place(c.rows, q, lane);
        ASSERT_EQ(value_of(c, wave.v(first + q, static_cast<int>(lane))),
                  matrices.product(block, row, column) + static_cast<int>(q + lane))
            << "register " << q << ", lane " << lane;
      }
  }
}

// Each instruction set's code computes the same.
TEST(MatrixProducts, AreTheSameOnEveryInstructionSet) {
  static Elements a, b;
  for (unsigned e = 0; e < 16; ++e)
    for (unsigned lane = 0; lane < 64; ++lane) {
      a.at[e][lane] = std::bit_cast<uint32_t>(random_normal(3, e * 64 + lane));
      b.at[e][lane] = std::bit_cast<uint32_t>(random_normal(4, e * 64 + lane));
    }
  for (const MatrixShape shape : {MatrixShape{16, 4, 1, Element::f32}, MatrixShape{32, 2, 1, Element::f32},
                                  MatrixShape{4, 1, 16, Element::f32}, MatrixShape{32, 1, 2, Element::f32}}) {
    std::vector<Lanes> c(32), expected(32), got(32);
    for (unsigned n = 0; n < 32 * 64; ++n) c[n / 64].at[n % 64] = std::bit_cast<uint32_t>(random_normal(5, n));
    baseline::multiply({shape, &a, &b, c.data(), expected.data()});
    const size_t bytes = shape.result_registers() * sizeof(Lanes);
    if (__builtin_cpu_supports("avx2")) {
      avx2::multiply({shape, &a, &b, c.data(), got.data()});
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), bytes), 0) << shape.rows;
    }
    if (__builtin_cpu_supports("avx512f")) {
      avx512::multiply({shape, &a, &b, c.data(), got.data()});
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), bytes), 0) << shape.rows;
    }
  }
}

TEST(MatrixProducts, AConstantCIsAddedToAll) {
  const Case c{Opcode::v_mfma_f32_16x16x16_bf16, Isa::gfx942, 16, 16, 1, bf16, bf16};
  OneWave wave;
  Matrices matrices(c);
  matrices.place(wave, 0, 32);
  Instruction instruction = instruction_of(c, vector_operand(64, 4));
  instruction.sources[2] = constant_operand(0x40000000);  // 2.0
  wave.run(instruction);
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(value_of(c, wave.v(65, static_cast<int>(lane))), matrices.product(0, 4 * (lane / 16) + 1, lane % 16) + 2);
}

// cbsz = 1, abid = 1: of each two blocks, both take a of the second.
TEST(MatrixProducts, CbszAndAbidBroadcastABlockOfA) {
  const Case c{Opcode::v_mfma_f32_16x16x4_4b_f16, Isa::gfx942, 16, 4, 4, f16, f16};
  OneWave wave;
  Matrices matrices(c);
  matrices.place(wave, 0, 32);
  Instruction instruction = instruction_of(c, vector_operand(64, 16));
  instruction.sources[2] = constant_operand(0);
  instruction.matrix = {.cbsz = 1, .abid = 1};
  wave.run(instruction);
  for (unsigned q = 0; q < 16; ++q)
    for (unsigned lane = 0; lane < 64; ++lane) {
      const auto [block, row, column] = result_place(16, q, lane);
      int expected = 0;
      for (unsigned k = 0; k < 4; ++k) expected += matrices.a(block / 2 * 2 + 1, row, k) * matrices.b(block, column, k);
      ASSERT_EQ(value_of(c, wave.v(64 + q, static_cast<int>(lane))), expected);
    }
}

// blgp permutes the lanes that b comes from: here the second 16 for all, a block of columns of a 16x16x4 product.
TEST(MatrixProducts, BlgpChoosesLanesOfB) {
  const Case c{Opcode::v_mfma_f32_16x16x4_4b_f16, Isa::gfx942, 16, 4, 4, f16, f16};
  const std::map<unsigned, std::array<unsigned, 4>> blocks{{1, {0, 1, 0, 1}}, {2, {2, 3, 2, 3}}, {3, {1, 2, 3, 0}},
                                                           {4, {0, 0, 0, 0}}, {5, {1, 1, 1, 1}}, {7, {3, 3, 3, 3}}};
  for (const auto& [pattern, from] : blocks) {
    OneWave wave;
    Matrices matrices(c);
    matrices.place(wave, 0, 32);
    Instruction instruction = instruction_of(c, vector_operand(64, 16));
    instruction.sources[2] = constant_operand(0);
    instruction.matrix = {.blgp = static_cast<uint8_t>(pattern)};
    wave.run(instruction);
    for (unsigned q = 0; q < 16; ++q)
      for (unsigned lane = 0; lane < 64; ++lane) {
        const auto [block, row, column] = result_place(16, q, lane);
        int expected = 0;
        for (unsigned k = 0; k < 4; ++k) expected += matrices.a(block, row, k) * matrices.b(from[block], column, k);
        ASSERT_EQ(value_of(c, wave.v(64 + q, static_cast<int>(lane))), expected) << pattern;
      }
  }
}

// f64: a lane holds one element; row 4 * pair + lane / 16.
TEST(MatrixProducts, OfDoubles) {
  OneWave wave;
  const auto value = [](uint64_t seed, unsigned n) { return static_cast<double>(random_bits(seed, n) % 1000) / 7; };
  for (int lane = 0; lane < 64; ++lane) {
    wave.set_pair(0, lane, std::bit_cast<uint64_t>(value(1, static_cast<unsigned>(lane))));
    wave.set_pair(2, lane, std::bit_cast<uint64_t>(value(2, static_cast<unsigned>(lane))));
  }
  Instruction instruction = make_instruction(Opcode::v_mfma_f64_16x16x4_f64, Encoding::vop3p, vector_operand(8, 8),
                                             {vector_operand(0, 2), vector_operand(2, 2), constant_operand(0)});
  wave.run(instruction);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      double expected = 0;
      for (unsigned k = 0; k < 4; ++k) expected = std::fma(value(1, 16 * k + row), value(2, 16 * k + column), expected);
      const auto lane = static_cast<int>(row % 4 * 16 + column);
      const uint64_t got = wave.v(8 + row / 4 * 2, lane) | uint64_t{wave.v(9 + row / 4 * 2, lane)} << 32;
      ASSERT_EQ(std::bit_cast<double>(got), expected) << row << " " << column;
    }
}

// Of four terms of b, a has two, in the places that its lane's index says.
TEST(MatrixProducts, OfASparseA) {
  const Case shapes[] = {{Opcode::v_smfmac_f32_16x16x32_bf16, Isa::gfx942, 16, 32, 1, bf16, bf16},
                         {Opcode::v_smfmac_f32_32x32x16_f16, Isa::gfx942, 32, 16, 1, f16, f16},
                         {Opcode::v_smfmac_i32_16x16x64_i8, Isa::gfx942, 16, 64, 1, i8, i8},
                         {Opcode::v_smfmac_f32_32x32x64_fp8_bf8, Isa::gfx950, 32, 64, 1, fp8_ocp, bf8_ocp}};
  for (const Case& c : shapes) {
    OneWave wave(c.isa);
    Matrices matrices(c);
    const unsigned per_lane = c.rows * c.terms / 64, stored = per_lane / 2, set = stored < 16 ? 1 : 0;
    for (unsigned n = 96; n < 97; ++n)
      for (int lane = 0; lane < 64; ++lane) wave.v(n, lane) = 0;
    for (unsigned row = 0; row < c.rows; ++row)
      for (unsigned group = 0; group < c.terms / 4; ++group) {
        const auto first = static_cast<unsigned>(random_bits(9, row * 64 + group) % 3);
        const unsigned places[2] = {first,
                                    first + 1 + static_cast<unsigned>(random_bits(8, row * 64 + group) % (3 - first))};
        const unsigned lane = row + c.rows * (4 * group / per_lane), local = 4 * group % per_lane / 4;
        for (unsigned k = 0; k < 4; ++k)
          if (k != places[0] && k != places[1]) matrices.a(0, row, 4 * group + k) = 0;
        for (unsigned n = 0; n < 2; ++n) {
          Packed{wave, 0, bits_of(c.a)}.put(static_cast<int>(lane), 2 * local + n,
                                            code_of(c.a, matrices.a(0, row, 4 * group + places[n])));
          wave.v(96, static_cast<int>(lane)) |= places[n] << (set * 2 * stored + 2 * (2 * local + n));
        }
      }
    for (unsigned column = 0; column < c.rows; ++column)
      for (unsigned k = 0; k < c.terms; ++k)
        Packed{wave, 32, bits_of(c.b)}.put(static_cast<int>(column + c.rows * (k / per_lane)), k % per_lane,
                                           code_of(c.b, matrices.b(0, column, k)));
    const unsigned count = c.rows * c.rows / 64;
    for (unsigned q = 0; q < count; ++q)
      for (int lane = 0; lane < 64; ++lane) wave.v(64 + q, lane) = 0;
    Instruction instruction = make_instruction(
        c.opcode, Encoding::vop3p, vector_operand(64, count),
        {vector_operand(0, registers_for(c, c.a) / 2), vector_operand(32, registers_for(c, c.b)), vector_operand(96)});
    instruction.matrix.abid = static_cast<uint8_t>(set);
    wave.run(instruction);
    for (unsigned q = 0; q < count; ++q)
      for (unsigned lane = 0; lane < 64; ++lane) {
        const auto [block, row, column] = result_place(c.rows, q, lane);
        ASSERT_EQ(value_of(c, wave.v(64 + q, static_cast<int>(lane))), matrices.product(0, row, column))
            << name_of(c.opcode);
      }
  }
}

// Formats by cbsz and blgp, and scales of 2^(e - 127) for each lane's elements.
TEST(MatrixProducts, OfFormatsThatAreChosenWithScales) {
  const Stored formats[] = {fp8_ocp, bf8_ocp, fp6, bf6, fp4};
  for (uint8_t x = 0; x < 5; ++x)
    for (const unsigned rows : {16u, 32u}) {
      const auto y = static_cast<uint8_t>((x + 2) % 5);
      const Opcode opcode =
          rows == 16 ? Opcode::v_mfma_scale_f32_16x16x128_f8f6f4 : Opcode::v_mfma_scale_f32_32x32x64_f8f6f4;
      const Case c{opcode, Isa::gfx950, rows, rows == 16 ? 128u : 64u, 1, formats[x], formats[y]};
      OneWave wave(c.isa);
      Matrices matrices(c);
      matrices.place(wave, 0, 32);
      for (int lane = 0; lane < 64; ++lane) {
        wave.v(96, lane) = (127 + static_cast<unsigned>(lane) % 3) << 8;  // byte 1
        wave.v(97, lane) = 126u << 16;                                    // byte 2
      }
      Instruction instruction = instruction_of(c, vector_operand(64, rows * rows / 64));
      instruction.sources[2] = constant_operand(0);
      instruction.sources[3] = vector_operand(96), instruction.sources[4] = vector_operand(97);
      instruction.source_count = 5;
      instruction.sources[3].op_sel = true;
      instruction.sources[4].op_sel_hi = true;
      instruction.matrix = {.cbsz = x, .blgp = y};
      wave.run(instruction);
      for (unsigned q = 0; q < rows * rows / 64; ++q)
        for (unsigned lane = 0; lane < 64; ++lane) {
          const auto [block, row, column] = result_place(rows, q, lane);
          float expected = 0;
          for (unsigned k = 0; k < c.terms; ++k) {
            const unsigned from = row + rows * (k / 32);
            expected += static_cast<float>(matrices.a(0, row, k) * matrices.b(0, column, k)) *
                        std::ldexp(0.5f, static_cast<int>(from % 3));
          }
          ASSERT_EQ(std::bit_cast<float>(wave.v(64 + q, static_cast<int>(lane))), expected) << int{x} << " " << rows;
        }
    }
}

TEST(SmallFloats, HaveTheValuesOfTheirSpecifications) {
  const auto value = [](SmallFloat kind, uint32_t code) {
    return std::bit_cast<float>(small_float_values(kind)[code]);
  };
  EXPECT_EQ(value(SmallFloat::fp8_ocp, 0x7e), 448.0f);
  EXPECT_EQ(value(SmallFloat::fp8_ocp, 0x01), 0x1p-9f);
  EXPECT_TRUE(std::isnan(value(SmallFloat::fp8_ocp, 0xff)));
  EXPECT_EQ(value(SmallFloat::bf8_ocp, 0x7b), 57344.0f);
  EXPECT_EQ(value(SmallFloat::bf8_ocp, 0xfc), -INFINITY);
  EXPECT_TRUE(std::isnan(value(SmallFloat::bf8_ocp, 0x7d)));
  EXPECT_EQ(value(SmallFloat::fp8_fnuz, 0x7f), 240.0f);
  EXPECT_EQ(value(SmallFloat::fp8_fnuz, 0x01), 0x1p-10f);
  EXPECT_TRUE(std::isnan(value(SmallFloat::fp8_fnuz, 0x80)));
  EXPECT_EQ(value(SmallFloat::bf8_fnuz, 0x7f), 57344.0f);
  EXPECT_EQ(value(SmallFloat::bf8_fnuz, 0x01), 0x1p-17f);
  EXPECT_TRUE(std::isnan(value(SmallFloat::bf8_fnuz, 0x80)));
  EXPECT_EQ(value(SmallFloat::fp6, 0x1f), 7.5f);
  EXPECT_EQ(value(SmallFloat::fp6, 0x21), -0.125f);
  EXPECT_EQ(value(SmallFloat::bf6, 0x1f), 28.0f);
  EXPECT_EQ(value(SmallFloat::bf6, 0x01), 0.0625f);
  EXPECT_EQ(value(SmallFloat::fp4, 0x7), 6.0f);
  EXPECT_EQ(value(SmallFloat::fp4, 0x9), -0.5f);
}

// Section 7.3 of the guide for CDNA 3.
TEST(MatrixCorners, FlushDenormalsOfSinglesOnlyAndByMode) {
  const struct {
    Opcode opcode;
    unsigned registers;
    uint32_t a, b, kept;
    bool by_mode;
  } cases[] = {{Opcode::v_mfma_f32_16x16x4_f32, 1, 0x00400000, 0x71800000, 0x33000000, true},
               {Opcode::v_mfma_f32_16x16x8_xf32, 2, 0x00400000, 0x71800000, 0x33800000, false},
               {Opcode::v_mfma_f32_16x16x16_f16, 2, 0x00010001, 0x3c003c00, 0x35800000, false},
               {Opcode::v_mfma_f32_16x16x16_bf16, 2, 0x00400040, 0x71807180, 0x34000000, false}};
  for (const auto& c : cases)
    for (const bool flushes : {false, true})
      for (const bool swapped : {false, true}) {
        OneWave wave;
        wave.wave().mode = flushes ? Mode::kDx10Clamp | Mode::kIeee : Mode::kUsual;
        for (int lane = 0; lane < 64; ++lane) {
          for (unsigned r = 0; r < c.registers; ++r)
            wave.v(r, lane) = swapped ? c.b : c.a, wave.v(8 + r, lane) = swapped ? c.a : c.b;
          for (unsigned r = 0; r < 4; ++r) wave.v(16 + r, lane) = 0;
        }
        const auto run = [&] {
          wave.run(make_instruction(
              c.opcode, Encoding::vop3p, vector_operand(16, 4),
              {vector_operand(0, c.registers), vector_operand(8, c.registers), vector_operand(16, 4)}));
        };
        run();
        EXPECT_EQ(wave.v(16, 7), c.by_mode && flushes ? 0 : c.kept) << name_of(c.opcode) << flushes;
        for (int lane = 0; lane < 64; ++lane) {
          for (unsigned r = 0; r < c.registers; ++r) wave.v(r, lane) = 0;
          wave.v(16, lane) = 1;
        }
        run();
        EXPECT_EQ(wave.v(16, 7), 1u) << name_of(c.opcode) << ", what is added";
      }
}

}  // namespace
}  // namespace rung::amdgpu
