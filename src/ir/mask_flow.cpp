// Follows masks op by op.
// SPDX-License-Identifier: Apache-2.0
#include "ir/mask_flow.hpp"

#include <algorithm>

#include "ir/pointwise.hpp"

namespace rung {

namespace {

// How a walk goes on behind an op that reads a value.
enum class Onward { stop, follow, found };

// Visits each op that reads the value, or a value that it is followed to; returns whether a visit found what it seeks.
template <class Visit>
bool any_read(const Graph& graph, NodeId value, const Visit& visit) {
  std::vector<NodeId> open{value};
  std::vector<bool> seen(graph.capacity());
  while (!open.empty()) {
    const NodeId from = open.back();
    open.pop_back();
    if (seen[from]) continue;
    seen[from] = true;
    for (NodeId user : graph[from].users) {
      const Semantics semantics = semantics_of(graph, user);
      for (size_t at = 0; at < graph[user].operands.size(); ++at) {
        if (graph[user].operands[at] != from) continue;
        const Onward onward = visit(user, semantics, at);
        if (onward == Onward::found) return true;
        if (onward == Onward::follow) open.push_back(user);
      }
    }
  }
  return false;
}

// Returns whether an op is a formula, or a program of formulas and roundings alone, as conversions leave it.
bool is_formula(const Op& op, size_t operands) {
  const auto* pointwise = as<Pointwise>(op);
  if (!pointwise) return as<Formula>(op) != nullptr;
  const auto program = parse_pointwise(pointwise->program, operands);
  return program && std::ranges::all_of(program->instructions, [](const PointwiseInstruction& each) {
           return std::holds_alternative<FormulaKind>(each.function) || std::holds_alternative<Round>(each.function);
         });
}

}  // namespace

bool leads_to_mask(const Graph& graph, NodeId value) {
  return any_read(graph, value, [](NodeId, const Semantics& semantics, size_t at) {
    const InfinityUse use = semantics.operands[at].infinity;
    if (use == InfinityUse::masks) return Onward::found;
    return use == InfinityUse::carries ? Onward::follow : Onward::stop;
  });
}

bool reads_apart(const Op& op, const Semantics& semantics, size_t operand, DType result) {
  const OperandUse& use = semantics.operands[operand];
  if (use.role != OperandRole::data) return false;
  const auto is_alone = [](const AxisRead& read) {
    return read.kind == AxisRead::Kind::same || read.kind == AxisRead::Kind::broadcast;
  };
  if (semantics.flops == 0) return true;
  return (!is_float(result) || is_formula(op, semantics.operands.size())) && std::ranges::all_of(use.axes, is_alone);
}

bool stays_apart(const Graph& graph, NodeId value) {
  return !any_read(graph, value, [&](NodeId user, const Semantics& semantics, size_t at) {
    const DType result = graph.type(user).dtype;
    if (at >= semantics.operands.size() || !reads_apart(graph[user].op, semantics, at, result)) return Onward::found;
    return is_float(result) ? Onward::follow : Onward::stop;
  });
}

Tolerates tolerated(const Graph& graph, NodeId value) {
  if (stays_apart(graph, value)) return Tolerates::all;
  return leads_to_mask(graph, value) ? Tolerates::minus_infinity : Tolerates::numbers;
}

}  // namespace rung
