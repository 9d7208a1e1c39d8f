// Follows masks op by op.
// SPDX-License-Identifier: Apache-2.0
#include "ir/mask_flow.hpp"

#include <algorithm>

#include "ir/pointwise.hpp"

namespace rung {
namespace {

bool carries(BinaryKind kind, size_t at) {
  if (kind == BinaryKind::add || kind == BinaryKind::mul) return true;
  return at == 0 && (kind == BinaryKind::sub || kind == BinaryKind::div);
}
bool carries(const Select&, size_t at) { return at > 0; }  // the condition is a bool

// Does the instruction carry what its operand number `at` holds?
bool carries(const PointwiseFunction& function, size_t at) {
  if (const auto* kind = std::get_if<BinaryKind>(&function)) return carries(*kind, at);
  if (const auto* select = std::get_if<Select>(&function)) return carries(*select, at);
  return std::holds_alternative<Round>(function);
}

// From a register to the last one, through instructions that all carry it.
bool carries(const Pointwise& op, size_t at, size_t operands) {
  auto program = parse_pointwise(op.program, operands);
  if (!program) return false;
  std::vector<bool> masks(program->registers());
  masks[at] = true;
  for (size_t i = 0; i < program->instructions.size(); ++i) {
    const PointwiseInstruction& instruction = program->instructions[i];
    for (size_t j = 0; j < instruction.arity(); ++j) {
      const auto* from = std::get_if<Register>(&instruction.operands[j]);
      if (from && masks[static_cast<size_t>(from->index)] && carries(instruction.function, j))
        masks[program->inputs + i] = true;
    }
  }
  return masks.back();
}

// What is added to its products, which passes may make of an addition.
bool carries(const Linear& op, size_t at) {
  const auto is = [&](int operand) { return operand >= 0 && at == static_cast<size_t>(operand); };
  return !op.is_extended() && (is(op.at(LinearSlot::residual)) ||
                               (is(op.at(LinearSlot::bias)) && op.activation == Activation::none && !op.gated));
}

bool carries(const Op& op, size_t at, size_t operands) {
  if (const auto* binary = as<Binary>(op)) return carries(binary->kind, at);
  if (const auto* select = as<Select>(op)) return carries(*select, at);
  if (const auto* pointwise = as<Pointwise>(op)) return carries(*pointwise, at, operands);
  if (const auto* linear = as<Linear>(op)) return carries(*linear, at);
  if (const auto* cast = as<Cast>(op)) return is_float(cast->to);
  if (as<Gather>(op)) return at == 0;
  return as<Reshape>(op) || as<Transpose>(op) || as<Slice>(op) || as<Concat>(op) || as<Broadcast>(op);
}

}  // namespace

MaskRole mask_role(const Op& op, size_t at, size_t operands) {
  const auto* attention = as<Attention>(op);
  if (as<Softmax>(op) || (attention && attention->has_mask && at == 1)) return MaskRole::reads;
  return carries(op, at, operands) ? MaskRole::carries : MaskRole::none;
}

bool leads_to_mask(const Graph& graph, NodeId value) {
  std::vector<NodeId> open{value};
  std::vector<bool> seen(graph.capacity());
  while (!open.empty()) {
    const NodeId from = open.back();
    open.pop_back();
    if (seen[from]) continue;
    seen[from] = true;
    for (NodeId user : graph[from].users) {
      const std::vector<NodeId>& operands = graph[user].operands;
      for (size_t at = 0; at < operands.size(); ++at) {
        if (operands[at] != from) continue;
        const MaskRole role = mask_role(graph[user].op, at, operands.size());
        if (role == MaskRole::reads) return true;
        if (role == MaskRole::carries) open.push_back(user);
      }
    }
  }
  return false;
}

}  // namespace rung
