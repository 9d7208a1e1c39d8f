// Writes a statement for each step. Values are words of 32 bits or truths; all are declared first, constants with their
// values, as steps that may be left out stand in a block of their own.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/body_text.hpp"

#include <fmt/format.h>

#include <cassert>

namespace rung::gpu {
namespace {

using generated::Predicate;
using generated::Primitive;
using generated::Rounding;
using generated::Step;

std::string word(int step) { return fmt::format("s{}", step); }
std::string number(int step) { return fmt::format("float_of(s{})", step); }
std::string integer(int step) { return fmt::format("int(s{})", step); }

std::string_view rounding_text(Rounding way) {
  switch (way) {
    case Rounding::down:
      return "floorf";
    case Rounding::up:
      return "ceilf";
    case Rounding::toward_zero:
      return "truncf";
    default:
      return "rintf";
  }
}

std::string comparison_text(Predicate predicate, const std::string& x, const std::string& y) {
  switch (predicate) {
    case Predicate::less:
      return fmt::format("{} < {}", x, y);
    case Predicate::less_equal:
      return fmt::format("{} <= {}", x, y);
    case Predicate::not_equal:
      return fmt::format("!({} == {})", x, y);
    case Predicate::unordered:
      return fmt::format("({0} != {0} || {1} != {1})", x, y);
    default:
      return fmt::format("{} == {}", x, y);
  }
}

// Returns the f32 that a step computes; empty: it computes none.
std::string float_text(const Step& s) {
  const auto x = [&](int i) { return number(s.operand[i]); };
  switch (s.primitive) {
    case Primitive::add:
      return fmt::format("sum_of({}, {})", x(0), x(1));
    case Primitive::sub:
      return fmt::format("difference_of({}, {})", x(0), x(1));
    case Primitive::mul:
      return fmt::format("product_of({}, {})", x(0), x(1));
    case Primitive::div:
      return fmt::format("quotient_of({}, {})", x(0), x(1));
    case Primitive::fma:
      return fmt::format("fmaf({}, {}, {})", x(0), x(1), x(2));
    case Primitive::fnma:
      return fmt::format("fmaf(-{}, {}, {})", x(0), x(1), x(2));
    case Primitive::min:
      return fmt::format("({0} < {1} ? {0} : {1})", x(0), x(1));
    case Primitive::max:
      return fmt::format("({0} > {1} ? {0} : {1})", x(0), x(1));
    case Primitive::sqrt:
      return fmt::format("sqrtf({})", x(0));
    case Primitive::round:
      return fmt::format("{}({})", rounding_text(static_cast<Rounding>(s.immediate)), x(0));
    case Primitive::round_f16:
      return fmt::format("to_float(half_of({}))", x(0));
    case Primitive::to_float:
      return fmt::format("float({})", integer(s.operand[0]));
    default:
      return {};
  }
}

// Returns the word that a step computes of words.
std::string word_text(const Step& s) {
  const std::string a = word(s.operand[0]), b = word(s.operand[1]), c = word(s.operand[2]);
  switch (s.primitive) {
    case Primitive::load:
      return fmt::format("bits_of(x{})", generated::loaded_operand(s));
    case Primitive::bit_and:
      return fmt::format("{} & {}", a, b);
    case Primitive::bit_or:
      return fmt::format("{} | {}", a, b);
    case Primitive::bit_xor:
      return fmt::format("{} ^ {}", a, b);
    case Primitive::shift_left:
      return fmt::format("{} << {}", a, s.immediate);
    case Primitive::shift_right:
      return fmt::format("{} >> {}", a, s.immediate);
    case Primitive::shift_right_signed:
      return fmt::format("uint32_t(int({}) >> {})", a, s.immediate);
    case Primitive::shift_left_by:
      return fmt::format("({1} < 32u ? {0} << {1} : 0u)", a, b);
    case Primitive::shift_right_by:
      return fmt::format("({1} < 32u ? {0} >> {1} : 0u)", a, b);
    case Primitive::add_int:
      return fmt::format("{} + {}", a, b);
    case Primitive::sub_int:
      return fmt::format("{} - {}", a, b);
    case Primitive::mul_int:
      return fmt::format("{} * {}", a, b);
    case Primitive::multiply_high:
      return fmt::format("uint32_t(uint64_t({}) * {} >> 32)", a, b);
    case Primitive::to_int:
      return fmt::format("whole_of(rintf({}))", number(s.operand[0]));
    case Primitive::to_int_toward_zero:
      return fmt::format("whole_of(truncf({}))", number(s.operand[0]));
    case Primitive::table_word:
      return fmt::format("table{}[{} & 7u]", s.immediate, a);
    case Primitive::select:
      return fmt::format("{} ? {} : {}", a, b, c);
    default:
      assert(false && "a primitive without text");
      return {};
  }
}

std::string mask_text(const Step& s) {
  const std::string a = word(s.operand[0]), b = word(s.operand[1]);
  switch (s.primitive) {
    case Primitive::compare:
      return comparison_text(static_cast<Predicate>(s.immediate), number(s.operand[0]), number(s.operand[1]));
    case Primitive::equal_int:
      return fmt::format("{} == {}", a, b);
    case Primitive::greater_int:
      return fmt::format("{} > {}", integer(s.operand[0]), integer(s.operand[1]));
    case Primitive::mask_and:
      return fmt::format("{} && {}", a, b);
    case Primitive::mask_or:
      return fmt::format("{} || {}", a, b);
    default:
      return fmt::format("!{}", a);
  }
}

std::string value_text(const Step& s) {
  if (generated::gives_mask(s.primitive)) return mask_text(s);
  const std::string number = float_text(s);
  return number.empty() ? word_text(s) : fmt::format("bits_of({})", number);
}

std::string declaration_text(const Step& s, int number) {
  if (generated::has_effect(s.primitive)) return {};
  if (s.primitive == Primitive::constant)
    return fmt::format("  constexpr uint32_t s{} = {:#x}u;\n", number, s.immediate);
  return fmt::format("  {} s{}{{}};\n", generated::gives_mask(s.primitive) ? "bool" : "uint32_t", number);
}

std::string statement_text(const Step& s, int number) {
  switch (s.primitive) {
    case Primitive::begin_rare:
      return fmt::format("if ({}) {{", word(s.operand[0]));
    case Primitive::end_rare:
      return "}";
    case Primitive::store:
      return fmt::format("return float_of({});", word(s.operand[0]));
    default:
      return fmt::format("{} = {};", word(number), value_text(s));
  }
}

}  // namespace

std::string function_definition(std::string_view name, int operands, const generated::Body& body) {
  std::string text = fmt::format("__device__ inline float {}(float x0{}) {{\n", name, operands > 1 ? ", float x1" : "");
  for (size_t i = 0; i < body.tables.size(); ++i)
    text += fmt::format("  constexpr uint32_t table{}[] = {{{:#x}}};\n", i, fmt::join(body.tables[i].words, ", "));
  for (size_t i = 0; i < body.steps.size(); ++i) text += declaration_text(body.steps[i], static_cast<int>(i));
  for (size_t i = 0; i < body.steps.size(); ++i)
    if (body.steps[i].primitive != Primitive::constant)
      text += "  " + statement_text(body.steps[i], static_cast<int>(i)) + "\n";
  return text + "}\n";
}

}  // namespace rung::gpu
