// The primitives of generated element-wise code: a list of steps over vectors, which an emitter turns into
// instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "ir/dtype.hpp"

namespace rung::generated {

enum class Primitive : uint8_t {
#define RUNG_PRIMITIVE(name, operands) name,
#include "kernels/generated/primitives.inc"
};

constexpr int operands_of(Primitive primitive) {
  constexpr int kOperands[] = {
#define RUNG_PRIMITIVE(name, operands) operands,
#include "kernels/generated/primitives.inc"
  };
  return kOperands[static_cast<int>(primitive)];
}

constexpr bool gives_mask(Primitive p) { return p >= Primitive::compare && p <= Primitive::mask_not; }
constexpr bool has_effect(Primitive p) { return p >= Primitive::begin_rare; }

// The numbers that the instructions take.
enum class Rounding : uint8_t { even = 8, down = 9, up = 10, toward_zero = 11 };
enum class Predicate : uint8_t {
  equal = 0,
  less = 1,
  less_equal = 2,
  unordered = 3,
  not_equal = 4,
  not_less_equal = 6,
  ordered = 7
};

struct Step {
  Primitive primitive = Primitive::constant;
  int operand[3] = {-1, -1, -1};  // steps before this one
  uint32_t immediate = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

constexpr uint32_t loads(int operand, DType type) {
  return static_cast<uint32_t>(operand) << 8 | static_cast<uint32_t>(type);
}
constexpr int loaded_operand(const Step& load) { return static_cast<int>(load.immediate >> 8); }
constexpr DType loaded_type(const Step& load) { return static_cast<DType>(load.immediate & 0xff); }

// `same`: of the first operands, whether they have one value for all elements.
inline bool is_same(const std::vector<bool>& same, int operand) {
  return static_cast<size_t>(operand) < same.size() && same[static_cast<size_t>(operand)];
}

struct Table {
  uint32_t words[8] = {};
  friend bool operator==(const Table&, const Table&) = default;
};

// The computation of one vector of elements.
struct Body {
  std::vector<Step> steps;
  std::vector<Table> tables;
};

enum class VectorSet : uint8_t { avx2, avx512 };
constexpr int lanes_of(VectorSet set) { return set == VectorSet::avx512 ? 16 : 8; }

}  // namespace rung::generated
