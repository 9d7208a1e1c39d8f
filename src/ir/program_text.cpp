// Parses and prints the parts of programs.
// SPDX-License-Identifier: Apache-2.0
#include "ir/program_text.hpp"

#include <charconv>

#include "ir/formulas.hpp"

namespace rung::program_text {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view word_of(const PointwiseFunction& function) {
  if (const auto* unary = std::get_if<UnaryKind>(&function)) return name_of(*unary);
  if (const auto* binary = std::get_if<BinaryKind>(&function)) return name_of(*binary);
  if (const auto* round = std::get_if<Round>(&function)) return name_of(round->to);
  if (const auto* formula = std::get_if<FormulaKind>(&function)) return name_of(*formula);
  return Select::kName;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string_view take_until(std::string_view& text, char mark) {
  size_t at = text.find(mark);
  std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return trim(head);
}

std::optional<int> parse_register(std::string_view text) {
  if (text.size() < 2 || text[0] != 'r' || text[1] < '0' || text[1] > '9') return std::nullopt;
  return parse_number<int>(text.substr(1));
}

Result<Call> parse_line(std::string_view line, size_t written) {
  if (line.find('=') == std::string_view::npos) return fail("got no '=', wanted r{}=...", written);
  std::string_view target = take_until(line, '=');
  if (parse_register(target) != static_cast<int>(written)) return fail("got target '{}', wanted r{}", target, written);
  line = trim(line);
  if (line.empty() || line.back() != ')' || line.find('(') == std::string_view::npos)
    return fail("got '{}', wanted a call such as mul(r0,r1)", line);
  line.remove_suffix(1);
  const std::string_view name = take_until(line, '(');
  return Call{name, line};
}

Result<PointwiseOperand> parse_operand(std::string_view text, size_t written) {
  if (auto index = parse_register(text)) {
    if (static_cast<size_t>(*index) < written) return Register{*index};
    return fail("got {}, wanted one of the registers below r{}", text, written);
  }
  if (auto value = parse_number<float>(text)) return *value;
  return fail("got operand '{}', wanted a register such as r0 or a number", text);
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

Result<PointwiseInstruction> parse_operands(const Call& call, const PointwiseFunction& function, size_t written) {
  PointwiseInstruction instruction{function, {}};
  std::string_view rest = call.operands;
  size_t count = 0;
  for (bool more = true; more; ++count) {
    more = rest.find(',') != std::string_view::npos;
    std::string_view operand = take_until(rest, ',');
    if (count == instruction.arity()) return fail("{}: wanted {} operands, got more", call.name, count);
    RUNG_TRY(instruction.operands[count], parse_operand(operand, written));
  }
  if (count < instruction.arity()) return fail("{}: got {} operands, wanted {}", call.name, count, instruction.arity());
  return instruction;
}

std::string print(const PointwiseOperand& operand) {
  if (const auto* r = std::get_if<Register>(&operand)) return fmt::format("r{}", r->index);
  return fmt::format("{}", std::get<float>(operand));
}

std::string print(const PointwiseInstruction& instruction) {
  std::string text = fmt::format("{}(", word_of(instruction.function));
  for (size_t i = 0; i < instruction.arity(); ++i)
    text += fmt::format("{}{}", i ? "," : "", print(instruction.operands[i]));
  return text + ")";
}

}  // namespace rung::program_text
