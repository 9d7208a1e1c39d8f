// Collects element-wise ops with one result and writes their programs.
// SPDX-License-Identifier: Apache-2.0
#include "passes/pointwise_group.hpp"

#include <algorithm>

#include "passes/integer_values.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Returns whether an f32 register holds every value of the type.
bool fits_register(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::boolean;
}

// Returns whether it is a cast of bytes, from or to what registers hold.
bool is_cast_of_bytes(const Graph& graph, NodeId id) {
  const auto fits = [](DType dtype) { return fits_register(dtype) || is_byte(dtype); };
  return graph.as<Cast>(id) && fits(graph.type(id).dtype) && fits(graph.type(graph[id].operands[0]).dtype);
}

}  // namespace

bool is_pointwise(const Graph& graph, NodeId id, const PointwiseLimits& limits) {
  const Node& node = graph[id];
  if (limits.generated && is_cast_of_bytes(graph, id)) return true;
  return (is_elementwise(node.op) || (limits.generated && as<Formula>(node.op))) && fits_register(node.type.dtype) &&
         std::all_of(node.operands.begin(), node.operands.end(),
                     [&](NodeId o) { return fits_register(graph.type(o).dtype); });
}

PointwiseGroup::PointwiseGroup(const Graph& graph, NodeId root, const std::vector<bool>& constant,
                               const PointwiseLimits& limits)
    : graph_(graph), root_(root), constant_(constant), limits_(limits) {
  take(root);
  for (bool grown = true; grown;) {  // a value of two readers joins after both
    grown = false;
    for (size_t i = 0; i < members_.size(); ++i)
      for (NodeId operand : graph_[members_[i]].operands)
        if (members_.size() < limits_.nodes && belongs(operand)) take(operand), grown = true;
  }
}

PointwiseProgram PointwiseGroup::program() {
  PointwiseProgram program;
  for (NodeId member : members_)
    for (NodeId operand : graph_[member].operands) load(operand);
  program.inputs = operands_.size();
  emit(root_, program);
  return program;
}

void PointwiseGroup::take(NodeId id) {
  members_.push_back(id);
  std::erase(outside_, id);
  for (NodeId operand : graph_[id].operands)
    if (std::find(outside_.begin(), outside_.end(), operand) == outside_.end()) outside_.push_back(operand);
}

bool PointwiseGroup::belongs(NodeId id) const {
  if (is_member(id) || !has_all_readers_of(id) || constant_[id] || !is_pointwise(graph_, id, limits_) ||
      !(graph_.shape(id) == graph_.shape(root_)))
    return false;
  return outside_.size() + graph_[id].operands.size() - 1 <= limits_.operands;
}

bool PointwiseGroup::is_member(NodeId id) const {
  return std::find(members_.begin(), members_.end(), id) != members_.end();
}

void PointwiseGroup::load(NodeId id) {
  if (is_member(id) || values_.contains(id)) return;
  if (auto number = uniform_value(graph_, id)) {
    values_[id] = static_cast<float>(*number);
  } else {
    values_[id] = Register{static_cast<int>(operands_.size())};
    operands_.push_back(id);
  }
}

PointwiseOperand PointwiseGroup::append(PointwiseProgram& program, PointwiseFunction function,
                                        std::initializer_list<PointwiseOperand> operands) {
  PointwiseInstruction instruction{function};
  std::copy(operands.begin(), operands.end(), instruction.operands.begin());
  program.instructions.push_back(instruction);
  return Register{static_cast<int>(program.registers()) - 1};
}

PointwiseOperand PointwiseGroup::emit(NodeId id, PointwiseProgram& program) {
  if (auto it = values_.find(id); it != values_.end()) return it->second;
  const Node& node = graph_[id];
  std::vector<PointwiseOperand> in;
  for (NodeId operand : node.operands) in.push_back(emit(operand, program));
  PointwiseOperand value = in[0];
  if (const auto* unary = as<Unary>(node.op)) value = append(program, unary->kind, {in[0]});
  if (const auto* binary = as<Binary>(node.op)) value = append(program, binary->kind, {in[0], in[1]});
  if (const auto* formula = as<Formula>(node.op)) value = append(program, formula->kind, {in[0], in.back()});
  if (as<Select>(node.op)) value = append(program, Select{}, {in[0], in[1], in[2]});
  DType from = graph_.type(node.operands[0]).dtype, to = node.type.dtype;
  if (as<Cast>(node.op) && to == DType::boolean && from != to) value = append(program, BinaryKind::ne, {in[0], 0.0f});
  // The author's casts round; other values stay as they are in registers, and the result rounds when stored.
  if (as<Cast>(node.op) && is_narrow(to) && from != to && id != root_) value = append(program, Round{to}, {value});
  return values_[id] = value;
}

bool PointwiseGroup::has_all_readers_of(NodeId id) const {
  return !graph_.is_output(id) && std::ranges::all_of(graph_[id].users, [&](NodeId user) { return is_member(user); });
}

}  // namespace rung::passes
