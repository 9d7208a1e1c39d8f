// The tables of the element-wise functions.
// SPDX-License-Identifier: Apache-2.0
#include "ir/functions.hpp"

#include <algorithm>
#include <array>

namespace rung {
namespace {

constexpr UnaryFacts kUnary[] = {
#define RUNG_UNARY(kind, word, takes, ...) {word, Takes::takes},
#include "ir/functions.inc"
};

struct Carries {
  bool first, second;
};
constexpr Carries neither{false, false}, first{true, false}, both{true, true};
constexpr bool commutes = true, ordered = false;
constexpr BinaryFacts kBinary[] = {
#define RUNG_BINARY(kind, word, takes, infinity, order, ...) \
  {word, Takes::takes, {infinity.first, infinity.second}, order},
#include "ir/functions.inc"
};

constexpr std::array kOfActivation{
#define RUNG_ACTIVATION(kind) UnaryKind::kind,
#include "ir/functions.inc"
};

}  // namespace

std::span<const UnaryFacts> unary_functions() { return kUnary; }
std::span<const BinaryFacts> binary_functions() { return kBinary; }

std::optional<UnaryKind> unary_of(Activation activation) {
  if (activation == Activation::none) return std::nullopt;
  return kOfActivation[static_cast<size_t>(activation) - 1];
}

std::optional<Activation> activation_of(UnaryKind kind) {
  const auto* it = std::find(kOfActivation.begin(), kOfActivation.end(), kind);
  if (it == kOfActivation.end()) return std::nullopt;
  return static_cast<Activation>(it - kOfActivation.begin() + 1);
}

}  // namespace rung
