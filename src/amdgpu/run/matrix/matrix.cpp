// Executes matrix instructions: operands from either kind of registers, broadcasts between blocks, scales, sparse ones.
// SPDX-License-Identifier: Apache-2.0
// All lanes take part, whatever EXEC says. Denormals are kept, whatever MODE says, except in f32 a and b. Where
// documents leave it open: xf32 operands are rounded to 10 bits of mantissa, to nearest even; a lane's elements of an
// f8f6f4 product are consecutive in k.
#include "amdgpu/run/matrix/matrix.hpp"

#include <bit>
#include <cmath>
#include <string_view>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/run/access/lane_access.hpp"
#include "amdgpu/run/access/memory_handlers.hpp"
#include "amdgpu/run/alu/vector.hpp"
#include "amdgpu/run/matrix/small_float.hpp"

namespace rung::amdgpu {
namespace {

Multiply multiply_here() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    return avx512::multiply;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::multiply;
  return baseline::multiply;
}
const Multiply kMultiply = multiply_here();

}  // namespace

MatrixShape matrix_shape_of(Opcode opcode) {
  switch (opcode) {
#define RUNG_AMD_MATRIX(name, rows, terms, blocks, element) \
  case Opcode::name:                                        \
    return {rows, terms, blocks, Element::element, false};
#define RUNG_AMD_SPARSE(name, rows, terms, element) \
  case Opcode::name:                                \
    return {rows, terms, 1, Element::element, true};
#include "amdgpu/run/matrix/matrix_shapes.inc"
#undef RUNG_AMD_MATRIX
#undef RUNG_AMD_SPARSE
    default:
      return {};
  }
}

namespace {

// Returns the float of 8 bits that the name states for operand 0 or 1: v_mfma_f32_16x16x32_bf8_fp8.
SmallFloat byte_of(const Instruction& instruction, Isa isa, int operand) {
  const std::string_view name = name_of(instruction.opcode);
  const std::string_view word = name.substr(name.size() - (operand == 0 ? 7 : 3), 3);
  const bool ocp = info_of(isa).ocp_f8;
  if (word == "bf8") return ocp ? SmallFloat::bf8_ocp : SmallFloat::bf8_fnuz;
  return ocp ? SmallFloat::fp8_ocp : SmallFloat::fp8_fnuz;
}

// Returns the float that cbsz or blgp of an f8f6f4 product chooses.
SmallFloat chosen_float(unsigned code) {
  constexpr SmallFloat kChoices[] = {SmallFloat::fp8_ocp, SmallFloat::bf8_ocp, SmallFloat::fp6, SmallFloat::bf6,
                                     SmallFloat::fp4};
  return kChoices[code < 5 ? code : 0];
}

uint32_t half_value(uint32_t half) {
  const uint32_t sign = (half & 0x8000) << 16, magnitude = (half & 0x7fff) << 13;
  const uint32_t special = 0x7f800000u | magnitude;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  return sign | (magnitude >= 0x7c00u << 13 ? special : std::bit_cast<uint32_t>(scaled));
}

uint32_t xf32_value(uint32_t bits) {
  if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
  return (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
}

template <unsigned kBits, class Value>
void unpack(const Lanes* from, unsigned count, Elements& to, Value value) {
  for (unsigned e = 0; e < count; ++e) {
    const unsigned shift = e * kBits % 32;
    const uint32_t* words = from[e * kBits / 32].at;
    for (int lane = 0; lane < kWaveLanes; ++lane) to.at[e][lane] = value(words[lane] >> shift);
  }
}

// Unpacks elements of 4, 6 or 8 bits by a table.
void unpack_small(const Lanes* from, unsigned count, Elements& to, SmallFloat kind) {
  const auto& values = small_float_values(kind);
  const auto bits = static_cast<unsigned>(kSmallFloats[static_cast<int>(kind)].bits);
  for (unsigned e = 0; e < count; ++e) {
    const unsigned word = e * bits / 32, shift = e * bits % 32;
    for (int lane = 0; lane < kWaveLanes; ++lane) {
      uint64_t pair = from[word].at[lane];
      if (shift + bits > 32) pair |= uint64_t{from[word + 1].at[lane]} << 32;
      to.at[e][lane] = values[pair >> shift & ((1u << bits) - 1)];
    }
  }
}

void unpack(const Lanes* from, unsigned count, Elements& to, Element element, SmallFloat kind) {
  switch (element) {
    case Element::f32:
      return unpack<32>(from, count, to, [](uint32_t w) { return w; });
    case Element::xf32:
      return unpack<32>(from, count, to, xf32_value);
    case Element::f16:
      return unpack<16>(from, count, to, half_value);
    case Element::bf16:
      return unpack<16>(from, count, to, [](uint32_t w) { return w << 16; });
    case Element::i8:
      return unpack<8>(from, count, to, [](uint32_t w) { return static_cast<uint32_t>(static_cast<int8_t>(w)); });
    default:
      return unpack_small(from, count, to, kind);
  }
}

// Flushes denormals of a and b as MODE says, if they are f32.
void flush_by_mode(Elements& to, unsigned count, const MatrixShape& shape, uint32_t mode) {
  constexpr uint32_t kKeeps = 0x10;
  if (shape.element != Element::f32 || (mode & kKeeps)) return;
  for (unsigned e = 0; e < count; ++e)
    for (uint32_t& at : to.at[e])
      if ((at & 0x7f800000) == 0) at &= 0x80000000;
}

// Applies cbsz and abid: groups of 2^cbsz blocks all take a of block abid of the group.
void broadcast_blocks(Elements& a, const MatrixShape& shape, unsigned count, MatrixModifiers matrix) {
  if (matrix.cbsz == 0 || shape.blocks == 1) return;
  const unsigned group = 1u << matrix.cbsz;
  for (unsigned e = 0; e < count; ++e) {
    uint32_t old[kWaveLanes];
    std::memcpy(old, a.at[e], sizeof old);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      const unsigned block = lane / shape.rows % shape.blocks, part = lane / (unsigned{shape.rows} * shape.blocks);
      const unsigned from = block / group * group + matrix.abid % group;
      a.at[e][lane] = old[(part * shape.blocks + from) * shape.rows + lane % shape.rows];
    }
  }
}

// Returns the lane of b that a lane takes its elements from, by blgp.
unsigned lane_of_b(unsigned lane, unsigned pattern) {
  switch (pattern) {
    case 1:
      return lane % 32;
    case 2:
      return lane % 32 + 32;
    case 3:
      return (lane + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7:
      return lane % 16 + 16 * (pattern - 4);
    default:
      return lane;
  }
}

void permute_lanes(Elements& b, unsigned count, unsigned pattern) {
  if (pattern == 0) return;
  for (unsigned e = 0; e < count; ++e) {
    uint32_t old[kWaveLanes];
    std::memcpy(old, b.at[e], sizeof old);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) b.at[e][lane] = old[lane_of_b(lane, pattern)];
  }
}

// Multiplies a lane's elements by 2^(its scale - 127); a scale of 255 gives NaN.
void scale(Elements& elements, unsigned count, const Lanes& scales, const InstructionOperand& operand) {
  const unsigned shift = 8 * (unsigned{operand.op_sel} | unsigned{operand.op_sel_hi} << 1);
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    const auto exponent = static_cast<int>(scales.at[lane] >> shift & 0xff);
    for (unsigned e = 0; e < count; ++e) {
      const float value = std::bit_cast<float>(elements.at[e][lane]);
      elements.at[e][lane] = exponent == 255 ? 0x7fc00000u : std::bit_cast<uint32_t>(std::ldexp(value, exponent - 127));
    }
  }
}

// Returns an operand's registers; a constant or a scalar fills all lanes of `room`.
const Lanes* lanes_of(Wave& wave, const InstructionOperand& operand, Lanes* room, unsigned registers) {
  if (is_vector(operand)) return registers_of(wave, operand);
  const uint32_t value = scalar_value(wave, operand);
  for (unsigned r = 0; r < registers; ++r)
    for (uint32_t& at : room[r].at) at = value;
  return room;
}

bool check_operands(Wave& wave, const Instruction& instruction) {
  if (refuse_indexed(wave, instruction)) return false;
  for (const InstructionOperand& source : instruction.sources)
    if (!readable(wave, instruction, source, ~uint64_t{0})) return false;
  return writable(wave, instruction, instruction.destination);
}

void dense(Wave& wave, const Instruction& instruction) {
  if (!check_operands(wave, instruction)) return;
  const MatrixShape shape = matrix_shape_of(instruction.opcode);
  const unsigned count = shape.terms_per_lane();
  const bool chosen = shape.element == Element::chosen;
  SmallFloat kinds[2] = {};
  if (shape.element == Element::byte)
    for (int n = 0; n < 2; ++n) kinds[n] = byte_of(instruction, wave.isa, n);
  if (chosen) kinds[0] = chosen_float(instruction.matrix.cbsz), kinds[1] = chosen_float(instruction.matrix.blgp);
  static thread_local Elements a, b;
  static thread_local Lanes room[32];
  unpack(registers_of(wave, instruction.sources[0]), count, a, shape.element, kinds[0]);
  unpack(registers_of(wave, instruction.sources[1]), count, b, shape.element, kinds[1]);
  flush_by_mode(a, count, shape, wave.mode), flush_by_mode(b, count, shape, wave.mode);
  if (!chosen) {
    broadcast_blocks(a, shape, count, instruction.matrix);
    permute_lanes(b, count, instruction.matrix.blgp);
  } else if (instruction.sources[3].kind != OperandKind::none) {
    const Lanes* scales = lanes_of(wave, instruction.sources[3], room, 1);
    scale(a, count, *scales, instruction.sources[3]);
    scales = lanes_of(wave, instruction.sources[4], room, 1);
    scale(b, count, *scales, instruction.sources[4]);
  }
  const Lanes* c = lanes_of(wave, instruction.sources[2], room, shape.result_registers());
  kMultiply({shape, &a, &b, c, registers_of(wave, instruction.destination)});
  mark_written(wave, instruction.destination, ~uint64_t{0});
}

// The place of row `row` and column `column` in the results of one block.
struct Place {
  unsigned first, lane;
};
Place place_of(unsigned rows, unsigned row, unsigned column) {
  return rows == 16 ? Place{row % 4, row / 4 * 16 + column} : Place{row / 8 * 4 + row % 4, row / 4 % 2 * 32 + column};
}

// Multiplies a sparse a: it has two of each four terms of b, and pairs of bits in the lane's index register number
// them. No other products are added.
void sparse(Wave& wave, const Instruction& instruction) {
  if (!check_operands(wave, instruction)) return;
  const MatrixShape shape = matrix_shape_of(instruction.opcode);
  const unsigned count = shape.terms_per_lane(), stored = count / 2, rows = shape.rows;
  SmallFloat kinds[2] = {};
  if (shape.element == Element::byte)
    for (int n = 0; n < 2; ++n) kinds[n] = byte_of(instruction, wave.isa, n);
  static thread_local Elements a, b;
  unpack(registers_of(wave, instruction.sources[0]), stored, a, shape.element, kinds[0]);
  unpack(registers_of(wave, instruction.sources[1]), count, b, shape.element, kinds[1]);
  const Lanes* index = registers_of(wave, instruction.sources[2]);
  const unsigned bits = 2 * stored, sets = 32 / bits;
  const unsigned set = instruction.matrix.cbsz == 0 ? instruction.matrix.abid % sets : 0;
  Lanes* result = registers_of(wave, instruction.destination);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < rows; ++column) {
      const Place at = place_of(rows, row, column);
      uint32_t& sum = result[at.first].at[at.lane];
      for (unsigned lane = 0; lane < kWaveLanes; lane += rows)
        for (unsigned e = 0; e < stored; ++e) {
          const unsigned term = 4 * (e / 2) + (index->at[lane + row] >> (set * bits + 2 * e) & 3);
          const uint32_t x = a.at[e][lane + row], y = b.at[term][lane + column];
          sum = shape.element == Element::i8
                    ? sum + x * y
                    : std::bit_cast<uint32_t>(std::bit_cast<float>(sum) +
                                              std::bit_cast<float>(x) * std::bit_cast<float>(y));
        }
    }
  mark_written(wave, instruction.destination, ~uint64_t{0});
}

double double_at(const Lanes* registers, unsigned lane) {
  return std::bit_cast<double>(registers[0].at[lane] | uint64_t{registers[1].at[lane]} << 32);
}

// Multiplies in f64: a lane has one element of a and of b; a result's row is 4 * its pair of registers + lane / 16, or
// lane / 16 in four blocks of 4 x 4. blgp negates a, b and c.
template <unsigned kRows, unsigned kBlocks>
void doubles(Wave& wave, const Instruction& instruction) {
  if (!check_operands(wave, instruction)) return;
  constexpr unsigned kPairs = kRows * kRows * kBlocks / kWaveLanes;
  const Lanes *a = registers_of(wave, instruction.sources[0]), *b = registers_of(wave, instruction.sources[1]);
  const InstructionOperand& added = instruction.sources[2];
  const Lanes* c = is_vector(added) ? registers_of(wave, added) : nullptr;
  const double constant = added.kind == OperandKind::constant ? std::bit_cast<double>(added.bits) : 0;
  const unsigned negated = instruction.matrix.blgp;
  Lanes result[2 * kPairs];
  for (unsigned pair = 0; pair < kPairs; ++pair)
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      const unsigned block = lane / kRows % kBlocks, row = 4 * pair + lane / 16;
      double sum = c != nullptr ? double_at(c + 2 * pair, lane) : constant;
      if (negated & 4) sum = -sum;
      for (unsigned k = 0; k < 4; ++k) {
        double x = double_at(a, k * 16 + block * kRows % 16 + row), y = double_at(b, k * 16 + lane % 16);
        if (negated & 1) x = -x;
        if (negated & 2) y = -y;
        sum = std::fma(x, y, sum);
      }
      const auto bits = std::bit_cast<uint64_t>(sum);
      result[2 * pair].at[lane] = static_cast<uint32_t>(bits);
      result[2 * pair + 1].at[lane] = static_cast<uint32_t>(bits >> 32);
    }
  std::memcpy(registers_of(wave, instruction.destination), result, sizeof result);
  mark_written(wave, instruction.destination, ~uint64_t{0});
}

}  // namespace

Handler matrix_handler(const Instruction& instruction, Isa) {
  switch (instruction.opcode) {
    case Opcode::v_mfma_f64_16x16x4f64:
    case Opcode::v_mfma_f64_16x16x4_f64:
      return doubles<16, 1>;
    case Opcode::v_mfma_f64_4x4x4f64:
    case Opcode::v_mfma_f64_4x4x4_4b_f64:
      return doubles<4, 4>;
    default:
      break;
  }
  const MatrixShape shape = matrix_shape_of(instruction.opcode);
  if (shape.rows == 0) return nullptr;
  return shape.sparse ? sparse : dense;
}

}  // namespace rung::amdgpu
