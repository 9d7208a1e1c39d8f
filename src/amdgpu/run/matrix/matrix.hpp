// Products of small matrices over the lanes of a wave, apart from where their operands stand.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/target.hpp"
#include "amdgpu/run/lanes.hpp"

namespace rung::amdgpu {

enum class Element : uint8_t { f32, xf32, f16, bf16, i8, byte, chosen };

struct MatrixShape {
  uint16_t rows = 0;    // of a and of the result; as many columns have b and the result
  uint16_t terms = 0;   // of each sum
  uint16_t blocks = 1;  // independent products
  Element element{};
  bool sparse = false;
  // Elements of b in a lane: those with numbers from lane / (rows * blocks) * terms_per_lane() on.
  unsigned terms_per_lane() const { return unsigned{rows} * terms * blocks / kWaveLanes; }
  unsigned result_registers() const { return unsigned{rows} * rows * blocks / kWaveLanes; }
};

// That of a matrix instruction; without rows: it is another one.
MatrixShape matrix_shape_of(Opcode opcode);

// The elements of a lane, by their number in it, as f32 (or as integers in the same bits): [number * 64 + lane].
inline constexpr unsigned kMostTerms = 32;
struct alignas(64) Elements {
  uint32_t at[kMostTerms][kWaveLanes];
};

// result = a * b + c over all lanes; sums are in f32 (integers: modulo 2^32), in order of k, each product and sum
// rounded as one fused operation: for operands of 16 bits and fewer that is the exact product. AMD's documents leave
// order and rounding of the sum open. `result` may be `c`.
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
