// Follows a program with a line in each register.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/clipped_line_of.hpp"

#include <algorithm>
#include <cmath>

namespace rung {
namespace {

using Line = ClippedLine;

bool is_x(const Line& line) {
  return line.slope == 1 && line.shift == 0 && std::isinf(line.low) && std::isinf(line.high) && !line.times_x;
}

Line scaled(Line line, float by) {
  line.slope *= by, line.shift *= by, line.low *= by, line.high *= by;
  if (by < 0) std::swap(line.low, line.high);
  return line;
}

// The line behind f(line, number), or f(number, line) if the number is first.
std::optional<Line> with_number(BinaryKind kind, Line line, float number, bool number_first) {
  if (!std::isfinite(number)) return std::nullopt;
  if (kind == BinaryKind::mul && number != 0) return scaled(line, number);
  if (kind == BinaryKind::div && number != 0 && !number_first) return scaled(line, 1 / number);
  if (line.times_x) return std::nullopt;
  if (kind == BinaryKind::sub) {
    if (number_first)
      line = scaled(line, -1);
    else
      number = -number;
    kind = BinaryKind::add;
  }
  switch (kind) {
    case BinaryKind::add:
      line.shift += number, line.low += number, line.high += number;
      return line;
    case BinaryKind::max:
      line.low = std::max(line.low, number), line.high = std::max(line.high, number);
      return line;
    case BinaryKind::min:
      line.low = std::min(line.low, number), line.high = std::min(line.high, number);
      return line;
    default:
      return std::nullopt;
  }
}

std::optional<Line> product(Line a, Line b) {
  if (is_x(a)) std::swap(a, b);
  if (!is_x(b) || a.times_x) return std::nullopt;
  a.times_x = true;
  return a;
}

std::optional<Line> step(const PointwiseInstruction& instruction, const std::vector<Line>& lines) {
  const auto line_at = [&](size_t i) -> const Line* {
    const auto* from = std::get_if<Register>(&instruction.operands[i]);
    return from ? &lines[static_cast<size_t>(from->index)] : nullptr;
  };
  if (const auto* unary = std::get_if<UnaryKind>(&instruction.function)) {
    if (!line_at(0)) return std::nullopt;
    if (*unary == UnaryKind::relu) return with_number(BinaryKind::max, *line_at(0), 0, false);
    return *unary == UnaryKind::neg ? std::optional(scaled(*line_at(0), -1)) : std::nullopt;
  }
  const auto* binary = std::get_if<BinaryKind>(&instruction.function);
  if (!binary) return std::nullopt;
  const Line *a = line_at(0), *b = line_at(1);
  if (a && b) return *binary == BinaryKind::mul ? product(*a, *b) : std::nullopt;
  if (a) return with_number(*binary, *a, std::get<float>(instruction.operands[1]), false);
  return b ? with_number(*binary, *b, std::get<float>(instruction.operands[0]), true) : std::nullopt;
}

}  // namespace

std::optional<ClippedLine> clipped_line_of(const PointwiseProgram& program) {
  if (program.inputs != 1) return std::nullopt;
  std::vector<Line> lines{Line{}};
  for (const PointwiseInstruction& instruction : program.instructions) {
    const auto line = step(instruction, lines);
    if (!line) return std::nullopt;
    lines.push_back(*line);
  }
  return lines.back();
}

}  // namespace rung
