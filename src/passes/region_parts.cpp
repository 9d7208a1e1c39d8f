// Tells what can be a part of a region, and writes regions' programs.
// SPDX-License-Identifier: Apache-2.0
#include "passes/region_parts.hpp"

#include <algorithm>

#include "passes/integer_values.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Returns whether an f32 register holds every value of the type.
bool fits_f32(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::boolean;
}

// Programs read and give bytes only where code is generated, which runs regions of bytes, too.
bool fits_f32(const Graph& graph, NodeId id) {
  const auto fits = [&](NodeId value) {
    const DType dtype = graph.type(value).dtype;
    return fits_f32(dtype) || (graph.as<Pointwise>(id) && is_byte(dtype));
  };
  const bool gives_place = graph.as<Region>(id) && graph.type(id).dtype == DType::i64;
  return (fits(id) || gives_place) && std::ranges::all_of(graph[id].operands, fits);
}

bool is_last(const Graph& graph, NodeId x, int64_t axis) {
  return graph.shape(x).rank() > 0 && axis_in(graph, x, axis) == graph.shape(x).rank() - 1;
}

RowKind row_kind(ReduceKind kind) {
  if (kind == ReduceKind::max) return RowKind::max;
  return kind == ReduceKind::mean ? RowKind::mean : RowKind::sum;
}

// Returns the rows of a region of one result that another region can take in; places are read by no member.
std::optional<Shape> rows_of_region(const Graph& graph, NodeId id) {
  const auto* region = graph.as<Region>(id);
  if (!region || parse_region(region->program, graph[id].operands.size())->results.size() > 1) return std::nullopt;
  std::vector<Type> operands;
  for (const NodeId operand : graph[id].operands) operands.push_back(graph.type(operand));
  return *region_shape(operands);
}

bool is_norm(const Op& op) { return as<LayerNorm>(op) || as<RmsNorm>(op); }

}  // namespace

std::optional<RowPlace> place_among(const Shape& rows, const Shape& value) {
  if (value == rows) return RowPlace::element;
  if (value == region_result_shape(rows, true)) return RowPlace::row;
  Shape flat = rows;
  flat.erase(rows.rank() - 1);
  return value == flat ? std::optional(RowPlace::flat_row) : std::nullopt;
}

std::optional<Shape> reduced_rows(const Graph& graph, NodeId id) {
  if (const auto rows = rows_of_region(graph, id)) return rows;
  const Node& node = graph[id];
  const auto* reduce = as<Reduce>(node.op);
  const auto* softmax = as<Softmax>(node.op);
  if (!reduce && !softmax && !as<L2Normalize>(node.op) && !is_norm(node.op)) return std::nullopt;
  const NodeId x = node.operands[0];
  const int64_t axis = reduce ? reduce->axis : softmax ? softmax->axis : -1;
  if (!is_last(graph, x, axis) || graph.shape(x).back() < 2 || !is_float(node.type.dtype)) return std::nullopt;
  return graph.shape(x);
}

bool is_scan(const Graph& graph, NodeId id) {
  const auto* scan = as<CumSum>(graph[id].op);
  return scan && is_float(graph.type(id).dtype) && is_last(graph, id, scan->axis);
}

bool can_join(const Graph& graph, NodeId id, const Shape& rows) {
  const Node& node = graph[id];
  if (!fits_f32(graph, id)) return false;
  if (!place_among(rows, node.type.shape)) return false;
  if (const auto reduced = reduced_rows(graph, id)) return *reduced == rows;
  if (as<Reshape>(node.op)) {  // with the axis of 1 or without it
    const auto from = place_among(rows, graph.shape(node.operands[0]));
    return from && *from != RowPlace::element && node.type.shape != rows;
  }
  if (is_scan(graph, id)) return true;
  if (as<Broadcast>(node.op)) return node.type.shape == rows;
  return is_elementwise(node.op) || as<Pointwise>(node.op);
}

bool agrees(const Graph& graph, NodeId id, const Shape& rows, NodeId member) {
  const auto to = place_among(rows, graph.shape(id)), from = place_among(rows, graph.shape(member));
  if (graph.as<Region>(id)) return from != RowPlace::flat_row;
  if (reduced_rows(graph, id)) return from == RowPlace::element;
  if (as<Reshape>(graph[id].op)) return from != RowPlace::element;
  if (to == RowPlace::element) return from != RowPlace::flat_row;
  return to == from;
}

RegionWriter::RegionWriter(const Graph& graph, const std::vector<NodeId>& members, const Shape& rows)
    : graph_(graph), members_(members), rows_(rows) {
  for (NodeId member : members_)
    for (NodeId operand : graph_[member].operands)
      if (!is_member(operand)) load(member, operand);
  program_.inputs = operands_.size();
}

RegionProgram RegionWriter::program(const std::vector<NodeId>& results) {
  for (NodeId member : members_) values_[{member, false}] = emit(member);
  for (NodeId result : results) {
    PointwiseOperand value = values_.at({result, false});
    if (!std::holds_alternative<Register>(value)) value = call(BinaryKind::add, {value, 0.0f});
    program_.results.push_back({std::get<Register>(value).index, graph_.type(result).dtype});
  }
  return program_;
}

bool RegionWriter::is_member(NodeId id) const { return std::ranges::find(members_, id) != members_.end(); }
bool RegionWriter::is_read_inside(NodeId id) const {
  return std::ranges::any_of(graph_[id].users, [&](NodeId user) { return is_member(user); });
}

// A reader of values of rows without their last axis reads them as if they had it.
RegionOperand operand_of(const Graph& graph, NodeId reader, NodeId id, const Shape& rows) {
  const bool flat = place_among(rows, graph.shape(reader)) == RowPlace::flat_row && !reduced_rows(graph, reader);
  return {id, flat && graph.shape(id).rank() > 0};
}

void RegionWriter::load(NodeId reader, NodeId id) {
  const RegionOperand operand = operand_of(graph_, reader, id, rows_);
  if (values_.contains(operand)) return;
  if (const auto number = uniform_value(graph_, id)) {
    values_[operand] = static_cast<float>(*number);
  } else {
    values_[operand] = Register{static_cast<int>(operands_.size())};
    operands_.push_back(operand);
  }
}

PointwiseOperand RegionWriter::value_of(NodeId reader, NodeId id) const {
  return values_.at(is_member(id) ? RegionOperand{id, false} : operand_of(graph_, reader, id, rows_));
}

// Norms of one value have its statistics in common.
PointwiseOperand RegionWriter::append(RegionInstruction instruction) {
  auto& all = program_.instructions;
  const auto before = std::ranges::find(all, instruction);
  const auto index = static_cast<int>(program_.inputs) + static_cast<int>(before - all.begin());
  if (before == all.end()) all.push_back(instruction);
  return Register{index};
}

PointwiseOperand RegionWriter::call(const PointwiseFunction& function,
                                    std::initializer_list<PointwiseOperand> operands) {
  PointwiseInstruction instruction{function, {}};
  std::copy(operands.begin(), operands.end(), instruction.operands.begin());
  return append(instruction);
}

PointwiseOperand RegionWriter::emit(NodeId id) {
  const Node& node = graph_[id];
  std::vector<PointwiseOperand> in;
  for (NodeId operand : node.operands) in.push_back(value_of(id, operand));
  if (const auto* unary = as<Unary>(node.op)) return call(unary->kind, {in[0]});
  if (const auto* binary = as<Binary>(node.op)) return call(binary->kind, {in[0], in[1]});
  if (as<Select>(node.op)) return call(Select{}, {in[0], in[1], in[2]});
  if (as<Cast>(node.op)) return emit_cast(id, in[0]);
  if (const auto* region = as<Region>(node.op)) return emit_cast(id, emit_region(*region, in));
  if (const auto* pointwise = as<Pointwise>(node.op)) return emit_cast(id, emit_program(*pointwise, in));
  if (const auto* reduction = as<Reduce>(node.op)) return reduce(row_kind(reduction->kind), in[0]);
  if (as<CumSum>(node.op)) return append(RowScan{ScanKind::sum, in[0]});
  if (as<Softmax>(node.op)) return emit_softmax(in[0]);
  if (const auto* normalize = as<L2Normalize>(node.op)) return emit_l2_normalize(*normalize, in[0]);
  if (const auto* norm = as<LayerNorm>(node.op)) return emit_cast(id, emit_layer_norm(*norm, in));
  if (const auto* norm = as<RmsNorm>(node.op)) return emit_cast(id, emit_rms_norm(*norm, in));
  return in[0];  // a view
}

// The author's casts round; other values stay as they are in registers, and results round when they are stored.
PointwiseOperand RegionWriter::emit_cast(NodeId id, const PointwiseOperand& x) {
  const DType to = graph_.type(id).dtype, from = graph_.type(graph_[id].operands[0]).dtype;
  if (as<Cast>(graph_[id].op) && from == to) return x;
  if (as<Cast>(graph_[id].op) && to == DType::boolean) return call(BinaryKind::ne, {x, 0.0f});
  return is_narrow(to) && is_read_inside(id) ? call(Round{to}, {x}) : x;
}

PointwiseOperand RegionWriter::emit_program(const Pointwise& op, const std::vector<PointwiseOperand>& in) {
  std::vector<PointwiseOperand> registers = in;
  const PointwiseProgram program = *parse_pointwise(op.program, in.size());
  for (const PointwiseInstruction& instruction : program.instructions)
    registers.push_back(append_over(registers, instruction));
  return registers.back();
}

PointwiseOperand RegionWriter::emit_region(const Region& op, const std::vector<PointwiseOperand>& in) {
  std::vector<PointwiseOperand> registers = in;
  const RegionProgram program = *parse_region(op.program, in.size());
  for (const RegionInstruction& instruction : program.instructions)
    registers.push_back(append_over(registers, instruction));
  return registers[static_cast<size_t>(program.results[0].index)];
}

PointwiseOperand RegionWriter::append_over(const std::vector<PointwiseOperand>& registers,
                                           RegionInstruction instruction) {
  for (PointwiseOperand& operand : operands_of(instruction))
    if (const auto* from = std::get_if<Register>(&operand)) operand = registers[static_cast<size_t>(from->index)];
  return append(instruction);
}

// A row's sum is 1 at least, so that its inverse is a number: a product costs less than a quotient at each element.
PointwiseOperand RegionWriter::emit_softmax(const PointwiseOperand& x) {
  const PointwiseOperand shifted = call(BinaryKind::sub, {x, reduce(RowKind::max, x)});
  const PointwiseOperand exponential = call(UnaryKind::exp, {shifted});
  const PointwiseOperand inverse = call(UnaryKind::reciprocal, {reduce(RowKind::sum, exponential)});
  return call(BinaryKind::mul, {exponential, inverse});
}

PointwiseOperand RegionWriter::emit_l2_normalize(const L2Normalize& op, const PointwiseOperand& x) {
  const PointwiseOperand squares = reduce(RowKind::sum, call(UnaryKind::square, {x}));
  const PointwiseOperand length = call(UnaryKind::sqrt, {squares});
  return call(BinaryKind::div, {x, call(BinaryKind::max, {length, op.eps})});
}

PointwiseOperand RegionWriter::emit_layer_norm(const LayerNorm& op, const std::vector<PointwiseOperand>& in) {
  const auto of = [&](LayerNormSlot slot) { return *op.slots.find(in, slot); };
  const PointwiseOperand x = op.has_residual() ? call(BinaryKind::add, {in[0], of(LayerNormSlot::residual)}) : in[0];
  const PointwiseOperand centred = call(BinaryKind::sub, {x, reduce(RowKind::mean, x)});
  const PointwiseOperand scaled = call(BinaryKind::mul, {centred, inverse_deviation(centred, op.eps)});
  return call(BinaryKind::add, {call(BinaryKind::mul, {scaled, of(LayerNormSlot::weight)}), of(LayerNormSlot::bias)});
}

PointwiseOperand RegionWriter::emit_rms_norm(const RmsNorm& op, const std::vector<PointwiseOperand>& in) {
  const PointwiseOperand scaled = call(BinaryKind::mul, {in[0], inverse_deviation(in[0], op.eps)});
  const PointwiseOperand weight = op.weight_offset == 0 ? in[1] : call(BinaryKind::add, {in[1], op.weight_offset});
  return call(BinaryKind::mul, {scaled, weight});
}

// 1 / sqrt(mean(x^2) + eps)
PointwiseOperand RegionWriter::inverse_deviation(const PointwiseOperand& x, float eps) {
  const PointwiseOperand squares = reduce(RowKind::mean, call(UnaryKind::square, {x}));
  return call(UnaryKind::rsqrt, {call(BinaryKind::add, {squares, eps})});
}

}  // namespace rung::passes
