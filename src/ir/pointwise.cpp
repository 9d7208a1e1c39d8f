// Parses and prints pointwise programs.
// SPDX-License-Identifier: Apache-2.0
#include "ir/pointwise.hpp"

#include <charconv>
#include <optional>

#include "ir/formulas.hpp"

namespace rung {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Removes the text before `mark` and the mark, and returns the text; all of it if there is no mark.
std::string_view take_until(std::string_view& text, char mark) {
  size_t at = text.find(mark);
  std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return trim(head);
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> parse_register(std::string_view text) {
  if (text.size() < 2 || text[0] != 'r' || text[1] < '0' || text[1] > '9') return std::nullopt;
  return parse_number<int>(text.substr(1));
}

std::optional<PointwiseFunction> function_named(std::string_view name) {
  if (name == name_of(DType::bf16)) return Round{DType::bf16};
  if (name == name_of(DType::f16)) return Round{DType::f16};
  if (const auto formula = formula_named(name); formula && facts_of(*formula).takes != FormulaTakes::integers)
    return *formula;
  auto op = op_named(name);
  if (!op) return std::nullopt;
  if (const auto* unary = as<Unary>(*op)) return unary->kind;
  if (const auto* binary = as<Binary>(*op)) return binary->kind;
  if (as<Select>(*op)) return Select{};
  return std::nullopt;
}

std::string_view name_of(const PointwiseFunction& function) {
  if (const auto* unary = std::get_if<UnaryKind>(&function)) return rung::name_of(*unary);
  if (const auto* binary = std::get_if<BinaryKind>(&function)) return rung::name_of(*binary);
  if (const auto* round = std::get_if<Round>(&function)) return rung::name_of(round->to);
  if (const auto* formula = std::get_if<FormulaKind>(&function)) return rung::name_of(*formula);
  return Select::kName;
}

Result<PointwiseOperand> parse_operand(std::string_view text, size_t written) {
  if (auto index = parse_register(text)) {
    if (static_cast<size_t>(*index) < written) return Register{*index};
    return fail("got {}, wanted one of the registers below r{}", text, written);
  }
  if (auto value = parse_number<float>(text)) return *value;
  return fail("got operand '{}', wanted a register such as r0 or a number", text);
}

// Parses "mul(r0,0.5)" where `written` registers hold values.
Result<PointwiseInstruction> parse_call(std::string_view text, size_t written) {
  if (text.empty() || text.back() != ')' || text.find('(') == std::string_view::npos)
    return fail("got '{}', wanted a call such as mul(r0,r1)", text);
  text.remove_suffix(1);
  std::string_view name = take_until(text, '(');
  auto function = function_named(name);
  if (!function) return fail("'{}' is not an element-wise function", name);
  PointwiseInstruction instruction{*function, {}};
  size_t count = 0;
  for (bool more = true; more; ++count) {
    more = text.find(',') != std::string_view::npos;
    std::string_view operand = take_until(text, ',');
    if (count == instruction.arity()) return fail("{}: wanted {} operands, got more", name, count);
    RUNG_TRY(instruction.operands[count], parse_operand(operand, written));
  }
  if (count < instruction.arity()) return fail("{}: got {} operands, wanted {}", name, count, instruction.arity());
  return instruction;
}

Result<PointwiseInstruction> parse_instruction(std::string_view text, size_t written) {
  if (text.find('=') == std::string_view::npos) return fail("got no '=', wanted r{}=...", written);
  std::string_view target = take_until(text, '=');
  if (parse_register(target) != static_cast<int>(written)) return fail("got target '{}', wanted r{}", target, written);
  return parse_call(trim(text), written);
}

std::string print_operand(const PointwiseOperand& operand) {
  if (const auto* r = std::get_if<Register>(&operand)) return fmt::format("r{}", r->index);
  return fmt::format("{}", std::get<float>(operand));
}

}  // namespace

size_t PointwiseInstruction::arity() const {
  if (std::holds_alternative<Select>(function)) return 3;
  if (const auto* formula = std::get_if<FormulaKind>(&function)) return facts_of(*formula).operands;
  return std::holds_alternative<BinaryKind>(function) ? 2 : 1;
}

Result<PointwiseProgram> parse_pointwise(std::string_view text, size_t inputs) {
  PointwiseProgram program{inputs, {}};
  if (trim(text).empty()) return fail("the program is empty, wanted at least one instruction");
  while (!text.empty()) {
    std::string_view line = take_until(text, ';');
    auto instruction = parse_instruction(line, program.registers());
    if (!instruction) return fail("in '{}': {}", line, instruction.error().message);
    program.instructions.push_back(*instruction);
  }
  return program;
}

std::string print_pointwise(const PointwiseProgram& program) {
  std::string text;
  size_t target = program.inputs;
  for (const auto& instruction : program.instructions) {
    text += fmt::format("{}r{}={}(", text.empty() ? "" : ";", target++, name_of(instruction.function));
    for (size_t i = 0; i < instruction.arity(); ++i)
      text += fmt::format("{}{}", i ? "," : "", print_operand(instruction.operands[i]));
    text += ")";
  }
  return text;
}

}  // namespace rung
