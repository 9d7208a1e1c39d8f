// The facts and words of formulas and of the ways to scatter.
// SPDX-License-Identifier: Apache-2.0
#include "ir/formulas.hpp"

#include <algorithm>
#include <iterator>

namespace rung {
namespace {

constexpr FormulaFacts kFormulas[] = {
#define RUNG_FORMULA(kind, word, operands, takes, ...) {word, operands, FormulaTakes::takes},
#include "ir/formulas.inc"
};

constexpr std::string_view kScatters[] = {"set", "add", "mul", "max", "min"};

}  // namespace

const FormulaFacts& facts_of(FormulaKind kind) { return kFormulas[static_cast<size_t>(kind)]; }
std::string_view name_of(FormulaKind kind) { return facts_of(kind).word; }

std::optional<FormulaKind> formula_named(std::string_view name) {
  const auto* found = std::ranges::find(kFormulas, name, &FormulaFacts::word);
  if (found == std::end(kFormulas)) return std::nullopt;
  return static_cast<FormulaKind>(found - std::begin(kFormulas));
}

std::string_view name_of(ScatterKind kind) { return kScatters[static_cast<size_t>(kind)]; }

std::optional<ScatterKind> scatter_named(std::string_view name) {
  const auto* found = std::ranges::find(kScatters, name);
  if (found == std::end(kScatters)) return std::nullopt;
  return static_cast<ScatterKind>(found - std::begin(kScatters));
}

}  // namespace rung
