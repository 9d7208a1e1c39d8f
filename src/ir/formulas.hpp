// The functions of the op `formula`, and the ways in which `scatter` joins values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung {

enum class FormulaKind : uint8_t {
#define RUNG_FORMULA(kind, ...) kind,
#include "ir/formulas.inc"
};

enum class FormulaTakes : uint8_t { floats, integers, numbers };

struct FormulaFacts {
  std::string_view word;
  uint8_t operands;
  FormulaTakes takes;
};

const FormulaFacts& facts_of(FormulaKind kind);
std::string_view name_of(FormulaKind kind);
std::optional<FormulaKind> formula_named(std::string_view name);

// set: the last of the values for a row wins.
enum class ScatterKind : uint8_t { set, add, mul, max, min };

std::string_view name_of(ScatterKind kind);
std::optional<ScatterKind> scatter_named(std::string_view name);

}  // namespace rung
