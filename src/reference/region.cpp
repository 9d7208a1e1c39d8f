// Runs a region instruction by instruction; each rounds to f32, so the program equals the chain of f32 ops. The values
// of rows stand at every element of their row.
// SPDX-License-Identifier: Apache-2.0
#include "ir/region.hpp"

#include <cmath>

#include "reference/operations.hpp"
#include "reference/registers.hpp"
#include "reference/scalar.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

double place_of_largest(std::span<const double> row) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i)
    if (row[i] > row[best] || (std::isnan(row[i]) && !std::isnan(row[best]))) best = i;
  return static_cast<double>(best);
}

double reduced(RowKind kind, std::span<const double> row) {
  if (kind == RowKind::argmax) return place_of_largest(row);
  double total = row[0];
  for (double value : row.subspan(1)) switch (kind) {
      case RowKind::max:
        total = apply(BinaryKind::max, total, value);
        break;
      case RowKind::min:
        total = apply(BinaryKind::min, total, value);
        break;
      case RowKind::product:
        total *= value;
        break;
      default:
        total += value;
    }
  return kind == RowKind::mean ? total / static_cast<double>(row.size()) : total;
}

void scan(ScanKind kind, std::span<double> row) {
  for (size_t i = 1; i < row.size(); ++i) row[i] = kind == ScanKind::sum ? row[i - 1] + row[i] : row[i - 1] * row[i];
}

// The registers of a region over [...,D].
struct Rows {
  std::vector<Column> registers;
  size_t elements, width;

  void run(const PointwiseInstruction& instruction) {
    registers.push_back(reference::run(instruction, registers, elements));
  }
  Column values_of(const PointwiseOperand& operand) const {
    Column values(elements);
    for (size_t i = 0; i < elements; ++i) values[i] = value_at(operand, registers, i);
    return values;
  }
  void run(const RowScan& of) {
    Column values = values_of(of.of);
    for (size_t row = 0; row < elements; row += width) scan(of.kind, std::span(values.data() + row, width));
    for (double& value : values) value = round_to(DType::f32, value);
    registers.push_back(std::move(values));
  }
  void run(const RowReduction& reduction) {
    Column values = values_of(reduction.of);
    for (size_t row = 0; row < elements; row += width) {
      const std::span all(values.data() + row, width);
      const double value = round_to(DType::f32, reduced(reduction.kind, all));
      std::ranges::fill(all, value);
    }
    registers.push_back(std::move(values));
  }
};

Result<Tensor> result(const Region& op, const Arguments& arguments, size_t at) {
  std::vector<Type> types;
  for (const Tensor& operand : arguments.operands) types.push_back(operand.type());
  RUNG_TRY(const RegionProgram program, parse_region(op.program, arguments.size()));
  RUNG_TRY(const Shape shape, region_shape(types));
  Rows rows{{}, size(shape.product()), shape.rank() > 0 ? size(shape.back()) : 1};
  for (const Tensor& operand : arguments.operands) rows.registers.push_back(column_of(operand, shape));
  for (const RegionInstruction& instruction : program.instructions)
    std::visit([&](const auto& one) { rows.run(one); }, instruction);
  const Column& all = rows.registers[size(program.results[at].index)];
  const size_t wanted = size(arguments.result.elements()), step = wanted == 0 ? 1 : all.size() / wanted;
  Column values;
  for (size_t i = 0; i < all.size(); i += step) values.push_back(all[i]);
  return write(arguments.result, values);
}

}  // namespace

Result<Tensor> compute(const Region& op, const Arguments& arguments) { return result(op, arguments, 0); }
Result<Tensor> compute_further(const Region& op, const Arguments& arguments, size_t i) {
  return result(op, arguments, i);
}

}  // namespace rung::reference
