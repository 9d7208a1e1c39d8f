// The parts of regions: where a value stands among a region's rows, which ops can join one, and the program of a group.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <utility>

#include "ir/graph.hpp"
#include "ir/region.hpp"

namespace rung::passes {

// The place of a value among rows of the shape [...,D]: one value for each element, or one for each row, with the last
// axis (of 1) or without it.
enum class RowPlace : uint8_t { element, row, flat_row };
// Returns the place of a value of shape `value`; nullopt: it has none. D is more than 1.
std::optional<RowPlace> place_among(const Shape& rows, const Shape& value);

// Returns the shape of the rows that an op reduces to values of them; nullopt: it is no such op, or along another axis.
std::optional<Shape> reduced_rows(const Graph& graph, NodeId id);
// Returns whether the op adds up values along the last axis, which not every device's regions do.
bool is_scan(const Graph& graph, NodeId id);
// Returns whether a region over rows of that shape can compute the node from values whose places agree.
bool can_join(const Graph& graph, NodeId id, const Shape& rows);
// Returns whether the node, which can join, may read a member's value at that place.
bool agrees(const Graph& graph, NodeId id, const Shape& rows, NodeId member);

// An operand of a region: a value, and whether it is read as if an axis of 1 stood behind its own.
using RegionOperand = std::pair<NodeId, bool>;

// Writes the program of a group of nodes, given in order.
class RegionWriter {
 public:
  RegionWriter(const Graph& graph, const std::vector<NodeId>& members, const Shape& rows);
  const std::vector<RegionOperand>& operands() const { return operands_; }
  // Returns the program, whose results are those members, each in its own type.
  RegionProgram program(const std::vector<NodeId>& results);

 private:
  bool is_member(NodeId id) const;
  bool is_read_inside(NodeId id) const;
  void load(NodeId reader, NodeId id);
  PointwiseOperand value_of(NodeId reader, NodeId id) const;
  PointwiseOperand append(RegionInstruction instruction);
  PointwiseOperand call(const PointwiseFunction& function, std::initializer_list<PointwiseOperand> operands);
  PointwiseOperand reduce(RowKind kind, const PointwiseOperand& of) { return append(RowReduction{kind, of}); }
  PointwiseOperand emit(NodeId id);
  PointwiseOperand emit_cast(NodeId id, const PointwiseOperand& x);
  PointwiseOperand emit_program(const Pointwise& op, const std::vector<PointwiseOperand>& in);
  PointwiseOperand emit_region(const Region& op, const std::vector<PointwiseOperand>& in);
  // Appends an instruction of another program, whose registers have these values.
  PointwiseOperand append_over(const std::vector<PointwiseOperand>& registers, RegionInstruction instruction);
  PointwiseOperand emit_softmax(const PointwiseOperand& x);
  PointwiseOperand emit_l2_normalize(const L2Normalize& op, const PointwiseOperand& x);
  PointwiseOperand emit_layer_norm(const LayerNorm& op, const std::vector<PointwiseOperand>& in);
  PointwiseOperand emit_rms_norm(const RmsNorm& op, const std::vector<PointwiseOperand>& in);
  PointwiseOperand inverse_deviation(const PointwiseOperand& x, float eps);

  const Graph& graph_;
  const std::vector<NodeId>& members_;
  const Shape& rows_;
  std::vector<RegionOperand> operands_;
  std::map<RegionOperand, PointwiseOperand> values_;
  RegionProgram program_;
};

}  // namespace rung::passes
