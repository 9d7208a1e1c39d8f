// Problems of every element-wise function, formula and cast, from the tables of functions.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "ir/dtype.hpp"
#include "ir/formulas.hpp"
#include "ir/functions.hpp"
#include "problems.hpp"

namespace rung::test {
namespace {

bool takes(Takes takes, DType type) {
  if (type == DType::boolean) return takes == Takes::booleans || takes == Takes::compares_any;
  return takes != Takes::booleans && (is_float(type) || takes != Takes::floats);
}

// Every element-wise function on each type that it takes, and in a program.
void add_functions(std::vector<std::string>& all) {
  constexpr std::array kTypes{DType::f32, DType::bf16, DType::i64, DType::i32, DType::boolean};
  for (DType type : kTypes) {
    const std::string x = fmt::format("{}:{}[3,37]", is_float(type) ? "positive" : "keep", name_of(type));
    const std::string y = fmt::format("{}:{}[37]", type == DType::boolean ? "keep2" : "nonzero", name_of(type));
    for (const UnaryFacts& function : unary_functions())
      if (takes(function.takes, type)) all.push_back(fmt::format("result = {}({})", function.word, x));
    for (const BinaryFacts& function : binary_functions())
      if (takes(function.takes, type)) all.push_back(fmt::format("result = {}({}, {})", function.word, x, y));
  }
  for (const UnaryFacts& function : unary_functions())
    all.push_back(
        fmt::format(R"~(result = pointwise(positive:f32[70], program="r1={}(r0)", out=f32))~", function.word));
  for (const BinaryFacts& function : binary_functions())
    all.push_back(fmt::format(R"~(result = pointwise(positive:f32[70], y:f32[70], program="r2={}(r0,r1)", out=f32))~",
                              function.word));
}

bool takes(FormulaTakes takes, DType type) {
  return takes == FormulaTakes::numbers || is_float(type) == (takes == FormulaTakes::floats);
}

// Every formula on each type that it takes; those of floats in a program, too. All but acosh have values here: "w..."
// are near 0.
void add_formulas(std::vector<std::string>& all) {
  for (int i = 0; i <= static_cast<int>(FormulaKind::f8e8m0_nearest); ++i) {
    const auto kind = static_cast<FormulaKind>(i);
    const FormulaFacts& facts = facts_of(kind);
    for (DType type : {DType::f32, DType::bf16, DType::i64, DType::i32, DType::i8, DType::u8}) {
      if (!takes(facts.takes, type) || kind == FormulaKind::acosh) continue;
      const std::string y = facts.operands == 2 ? fmt::format(", nonzero:{}[37]", name_of(type)) : "";
      const std::string_view x = is_float(type) ? "w" : type == DType::i64 ? "huge" : "x";
      all.push_back(fmt::format("result = formula({}:{}[3,37]{}, kind={})", x, name_of(type), y, facts.word));
    }
    if (facts.takes == FormulaTakes::integers) continue;
    const bool two = facts.operands == 2;
    all.push_back(fmt::format(R"~(result = pointwise(positive:f32[70], program="r1={};r2={}(r1{})", out=f32))~",
                              kind == FormulaKind::acosh ? "max(r0,1)" : "mul(r0,0.25)", facts.word, two ? ",r0" : ""));
  }
}

// Casts between all types that rows read and write.
void add_casts(std::vector<std::string>& all) {
  constexpr std::array kTypes{DType::f32, DType::bf16, DType::f16, DType::i64,
                              DType::i32, DType::i8,   DType::u8,  DType::boolean};
  for (DType from : kTypes)
    for (DType to : kTypes)
      if (from != to)
        all.push_back(fmt::format("result = cast({}:{}[3,37], to={})", from == DType::boolean ? "keep" : "positive",
                                  name_of(from), name_of(to)));
}

constexpr const char* kPlainFunctions[] = {
    "result = relu(x:f32[70])",
    "result = tanh(x:f32[3,70])",
    "result = erf(x:f32[70])",
    "result = sigmoid(x:f32[70])",
    "result = gelu_tanh(x:f32[70])",
    "result = log(positive:f32[70])",
    "result = sqrt(positive:f32[70])",
    "result = rsqrt(positive:f32[70])",
    "result = reciprocal(nonzero:f32[70])",
    "result = square(x:f32[5,1024])",
    "result = sin(x:f32[70])",
    "result = cos(x:f32[2,35])",
    "result = abs(x:f32[2,35])",
    "result = sub(x:i64[1], y:i64[70])",
    "result = mul(transpose(x:i64[5,70], permutation=[1,0]), y:i64[70,5])",
    "result = formula(huge:i64[70], far:i64[70], kind=shift_left)",
    "result = formula(huge:i64[70], far:i64[70], kind=shift_right)",
    "result = formula(x:i32[70], far:i32[70], kind=shift_left)",
    "result = formula(x:i32[70], far:i32[70], kind=shift_right)",
};

}  // namespace

std::vector<std::string> function_problems() {
  std::vector<std::string> all(std::begin(kPlainFunctions), std::end(kPlainFunctions));
  add_functions(all);
  add_formulas(all);
  add_casts(all);
  return all;
}

}  // namespace rung::test
