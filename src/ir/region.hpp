// The program language of the op `region`: element-wise instructions and reductions along rows, over registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/pointwise.hpp"
#include "ir/row_kind.hpp"

namespace rung {

std::string_view name_of(RowKind kind);  // in text: "row_sum"

// One value of each row, from all of the row's values of the operand.
struct RowReduction {
  RowKind kind = RowKind::sum;
  PointwiseOperand of{};
  friend bool operator==(const RowReduction&, const RowReduction&) = default;
};

std::string_view name_of(ScanKind kind);  // in text: "row_cumsum"

// A value of each element, from those of its row up to it.
struct RowScan {
  ScanKind kind = ScanKind::sum;
  PointwiseOperand of{};
  friend bool operator==(const RowScan&, const RowScan&) = default;
};

using RegionInstruction = std::variant<PointwiseInstruction, RowReduction, RowScan>;
// Returns the operands that the instruction reads.
std::span<const PointwiseOperand> operands_of(const RegionInstruction& instruction);
std::span<PointwiseOperand> operands_of(RegionInstruction& instruction);

struct RegionResult {
  int index = 0;  // of the register
  DType type = DType::f32;
  friend bool operator==(const RegionResult&, const RegionResult&) = default;
};

// Registers 0..inputs-1 are the op's operands; instruction i writes register inputs+i.
struct RegionProgram {
  size_t inputs = 0;
  std::vector<RegionInstruction> instructions;
  std::vector<RegionResult> results;
  size_t registers() const { return inputs + instructions.size(); }
  bool reduces() const;  // reduces or scans rows, so that a result depends on other elements of its row
  friend bool operator==(const RegionProgram&, const RegionProgram&) = default;
};

inline constexpr size_t kMaxRegionInstructions = 256;

// Parses "r1=row_max(r0);r2=sub(r0,r1);return r2:bf16,r1:f32", here of an op of one operand; spaces may be between
// words. It has at most kMaxRegionInstructions, and 1 to Region::kMostResults results; a register may be several, of
// several types. Errors quote it and say what was wanted.
Result<RegionProgram> parse_region(std::string_view text, size_t inputs);
// Prints without spaces, but for the one behind "return"; the text parses back to an equal program.
std::string print_region(const RegionProgram& program);

// The shape [...,D] that all operands broadcast to.
Result<Shape> region_shape(std::span<const Type> operands);
// Returns, by register, whether it holds one value for each row: reductions do, operands whose last axis is 1, and what
// follows from such values alone. `shape` is the region's; where D is 1 or there is no axis, all do.
std::vector<bool> row_registers(const RegionProgram& program, std::span<const Type> operands, const Shape& shape);
// Returns the shape of a result: [...,D], or [...,1] for a register of one value for each row.
Shape region_result_shape(const Shape& shape, bool row);

}  // namespace rung
