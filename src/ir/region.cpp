// Parses and prints regions, and tells values of elements from values of rows.
// SPDX-License-Identifier: Apache-2.0
#include "ir/region.hpp"

#include <algorithm>
#include <array>

#include "ir/program_text.hpp"

namespace rung {
namespace {

constexpr std::array<std::string_view, 6> kRowKinds{"row_sum", "row_mean",    "row_max",
                                                    "row_min", "row_product", "row_argmax"};
constexpr std::array<std::string_view, 2> kScanKinds{"row_cumsum", "row_cumprod"};
constexpr std::string_view kReturn = "return ";

Result<RegionInstruction> parse_instruction(std::string_view line, size_t written) {
  RUNG_TRY(const program_text::Call call, program_text::parse_line(line, written));
  const auto kind = std::ranges::find(kRowKinds, call.name);
  const auto scan = std::ranges::find(kScanKinds, call.name);
  if (kind != kRowKinds.end() || scan != kScanKinds.end()) {
    auto of = program_text::parse_operand(program_text::trim(call.operands), written);
    if (!of) return fail_in(of.error(), "{}", call.name);
    if (scan != kScanKinds.end()) return RowScan{static_cast<ScanKind>(scan - kScanKinds.begin()), *of};
    return RowReduction{static_cast<RowKind>(kind - kRowKinds.begin()), *of};
  }
  const auto function = program_text::function_named(call.name);
  if (!function) return fail("'{}' is neither an element-wise function nor a reduction or scan of rows", call.name);
  return program_text::parse_operands(call, *function, written);
}

Result<RegionResult> parse_result(std::string_view text, size_t written) {
  const std::string_view whole = text;
  const auto index = program_text::parse_register(program_text::take_until(text, ':'));
  const auto type = dtype_named(program_text::trim(text));
  if (!index || static_cast<size_t>(*index) >= written || !type)
    return fail("got result '{}', wanted one of the registers below r{} with a type, such as r0:f32", whole, written);
  return RegionResult{*index, *type};
}

Result<std::vector<RegionResult>> parse_results(std::string_view text, size_t written) {
  std::vector<RegionResult> results;
  while (!text.empty()) {
    RUNG_TRY(const RegionResult result, parse_result(program_text::take_until(text, ','), written));
    if (std::ranges::find(results, result) != results.end())
      return fail("r{} is returned twice as {}", result.index, result.type);
    results.push_back(result);
  }
  if (results.empty() || results.size() > Region::kMostResults)
    return fail("got {} results, wanted 1 to {}", results.size(), Region::kMostResults);
  return results;
}

template <class Operand, class Instruction>
std::span<Operand> operands_in(Instruction& instruction) {
  if (auto* reduction = std::get_if<RowReduction>(&instruction)) return {&reduction->of, 1};
  if (auto* scan = std::get_if<RowScan>(&instruction)) return {&scan->of, 1};
  auto& element = std::get<PointwiseInstruction>(instruction);
  return {element.operands.data(), element.arity()};
}

}  // namespace

std::string_view name_of(RowKind kind) { return kRowKinds[static_cast<size_t>(kind)]; }
std::string_view name_of(ScanKind kind) { return kScanKinds[static_cast<size_t>(kind)]; }

std::span<const PointwiseOperand> operands_of(const RegionInstruction& instruction) {
  return operands_in<const PointwiseOperand>(instruction);
}

std::span<PointwiseOperand> operands_of(RegionInstruction& instruction) {
  return operands_in<PointwiseOperand>(instruction);
}

bool RegionProgram::reduces() const {
  return std::ranges::any_of(instructions,
                             [](const auto& i) { return !std::holds_alternative<PointwiseInstruction>(i); });
}

Result<RegionProgram> parse_region(std::string_view text, size_t inputs) {
  RegionProgram program{inputs, {}, {}};
  while (!text.empty()) {
    std::string_view line = program_text::take_until(text, ';');
    if (line.starts_with(kReturn)) {
      if (!program_text::trim(text).empty()) return fail("got '{}' behind the results, wanted the end", text);
      RUNG_TRY(program.results, parse_results(line.substr(kReturn.size()), program.registers()));
      return program;
    }
    auto instruction = parse_instruction(line, program.registers());
    if (!instruction) return fail_in(instruction.error(), "in '{}'", line);
    program.instructions.push_back(*instruction);
    if (program.instructions.size() > kMaxRegionInstructions)
      return fail("got more than {} instructions", kMaxRegionInstructions);
  }
  return fail("the program has no results, wanted 'return r0:f32' at its end");
}

std::string print_region(const RegionProgram& program) {
  std::string text;
  size_t target = program.inputs;
  for (const RegionInstruction& instruction : program.instructions) {
    text += fmt::format("r{}=", target++);
    if (const auto* reduction = std::get_if<RowReduction>(&instruction))
      text += fmt::format("{}({});", name_of(reduction->kind), program_text::print(reduction->of));
    else if (const auto* scan = std::get_if<RowScan>(&instruction))
      text += fmt::format("{}({});", name_of(scan->kind), program_text::print(scan->of));
    else
      text += program_text::print(std::get<PointwiseInstruction>(instruction)) + ";";
  }
  text += kReturn;
  for (const RegionResult& result : program.results)
    text += fmt::format("{}r{}:{}", text.ends_with(' ') ? "" : ",", result.index, result.type);
  return text;
}

Result<Shape> region_shape(std::span<const Type> operands) {
  if (operands.empty()) return fail("got no operands, wanted at least one");
  Shape shape = operands[0].shape;
  for (const Type& operand : operands) {
    RUNG_TRY(shape, broadcast(shape, operand.shape));
  }
  return shape;
}

std::vector<bool> row_registers(const RegionProgram& program, std::span<const Type> operands, const Shape& shape) {
  std::vector<bool> rows;
  for (const Type& operand : operands)
    rows.push_back(shape.rank() == 0 || shape.back() == 1 || operand.shape.rank() == 0 || operand.shape.back() == 1);
  for (const RegionInstruction& instruction : program.instructions) {
    const auto is_row = [&](const PointwiseOperand& operand) {
      const auto* reg = std::get_if<Register>(&operand);
      return !reg || rows[static_cast<size_t>(reg->index)];
    };
    rows.push_back(
        std::holds_alternative<RowReduction>(instruction) ||
        (!std::holds_alternative<RowScan>(instruction) && std::ranges::all_of(operands_of(instruction), is_row)));
  }
  return rows;
}

Shape region_result_shape(const Shape& shape, bool row) {
  Shape result = shape;
  if (row && result.rank() > 0) result[result.rank() - 1] = 1;
  return result;
}

}  // namespace rung
