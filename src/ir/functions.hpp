// The facts of each element-wise function besides its formula.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "ir/op_kinds.hpp"

namespace rung {

// The types of a function's operands. Comparing functions give bool, the others the operands' type.
enum class Takes : uint8_t { floats, numbers, booleans, compares_numbers, compares_any };

struct UnaryFacts {
  std::string_view word;
  Takes takes;
};
struct BinaryFacts {
  std::string_view word;
  Takes takes;
  bool carries[2];  // -inf in this operand, beside numbers in the other one, gives -inf
  bool commutes;    // the bits are equal, NaN included
  bool compares() const { return takes >= Takes::compares_numbers; }
};

std::span<const UnaryFacts> unary_functions();    // by UnaryKind
std::span<const BinaryFacts> binary_functions();  // by BinaryKind
inline const UnaryFacts& facts_of(UnaryKind kind) { return unary_functions()[static_cast<size_t>(kind)]; }
inline const BinaryFacts& facts_of(BinaryKind kind) { return binary_functions()[static_cast<size_t>(kind)]; }

// A product's activation as a function of its own, and the inverse; null: `none`, and functions that no product has.
std::optional<UnaryKind> unary_of(Activation activation);
std::optional<Activation> activation_of(UnaryKind kind);

}  // namespace rung
