// Multiplies small matrices over the lanes of a wave, whatever their operands' places.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/isa.hpp"
#include "amdgpu/run/lanes.hpp"

namespace rung::amdgpu {

enum class Element : uint8_t { f32, xf32, f16, bf16, i8, byte, chosen };

struct MatrixShape {
  uint16_t rows = 0;    // of a and of the result; also the columns of b and of the result
  uint16_t terms = 0;   // in each sum
  uint16_t blocks = 1;  // independent products
  Element element{};
  bool sparse = false;
  // Returns a lane's number of elements of b; the first has the number lane / (rows * blocks) * terms_per_lane().
  unsigned terms_per_lane() const { return unsigned{rows} * terms * blocks / kWaveLanes; }
  unsigned result_registers() const { return unsigned{rows} * rows * blocks / kWaveLanes; }
};

// Returns a matrix instruction's shape; a shape without rows for other instructions.
MatrixShape matrix_shape_of(Opcode opcode);

// The elements of each lane as f32 (or as integers in the same bits): at[number in the lane][lane].
inline constexpr unsigned kMostTerms = 32;
struct alignas(64) Elements {
  uint32_t at[kMostTerms][kWaveLanes];
};

// A product result = a * b + c over all lanes. Sums are in f32 (integers: modulo 2^32), in order of k, each product and
// sum rounded as one fused operation: for operands of 16 bits and fewer that is the exact product. AMD's documents
// leave order and rounding of the sum open. `result` may be `c`.
struct MatrixProduct {
  MatrixShape shape;
  const Elements* a;
  const Elements* b;
  const Lanes* c;
  Lanes* result;
};
using Multiply = void (*)(const MatrixProduct&);
namespace baseline {
void multiply(const MatrixProduct& product);
}
namespace avx2 {
void multiply(const MatrixProduct& product);
}
namespace avx512 {
void multiply(const MatrixProduct& product);
}

}  // namespace rung::amdgpu
