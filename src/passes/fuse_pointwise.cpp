// Fuses the remaining chains and trees of element-wise ops, which then run in one sweep over memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/words.hpp"
#include "ir/pointwise.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// The limits of a group. Generated code has room for more than the interpreters, and computes formulas.
struct Limits {
  size_t operands, nodes;
  bool formulas;
};
constexpr Limits kLimits[] = {{16, 64, true}, {8, 24, false}};

// Returns whether an f32 register holds every value of the type.
bool fits_register(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::boolean;
}

bool is_fusible(const Graph& graph, NodeId id, const Limits& limits) {
  const Node& node = graph[id];
  return (is_elementwise(node.op) || (limits.formulas && as<Formula>(node.op))) && fits_register(node.type.dtype) &&
         std::all_of(node.operands.begin(), node.operands.end(),
                     [&](NodeId o) { return fits_register(graph.type(o).dtype); });
}

// A root and the nodes that only it reads, directly or through others of the group.
class Group {
 public:
  Group(const Graph& graph, NodeId root, const std::vector<bool>& constant, const Limits& limits)
      : graph_(graph), root_(root), constant_(constant), limits_(limits) {
    take(root);
    for (size_t i = 0; i < members_.size() && members_.size() < limits_.nodes; ++i)
      for (NodeId operand : graph_[members_[i]].operands)
        if (belongs(operand)) take(operand);
  }

  size_t size() const { return members_.size(); }
  const std::vector<NodeId>& operands() const { return operands_; }

  // Returns the program, in order of dependence.
  PointwiseProgram program() {
    PointwiseProgram program;
    for (NodeId member : members_)
      for (NodeId operand : graph_[member].operands) load(operand);
    program.inputs = operands_.size();
    emit(root_, program);
    return program;
  }

 private:
  void take(NodeId id) {
    members_.push_back(id);
    std::erase(outside_, id);
    for (NodeId operand : graph_[id].operands)
      if (std::find(outside_.begin(), outside_.end(), operand) == outside_.end()) outside_.push_back(operand);
  }

  bool belongs(NodeId id) const {
    if (!graph_.single_use(id) || constant_[id] || !is_fusible(graph_, id, limits_) ||
        !(graph_.shape(id) == graph_.shape(root_)))
      return false;
    return outside_.size() + graph_[id].operands.size() - 1 <= limits_.operands;
  }

  bool is_member(NodeId id) const { return std::find(members_.begin(), members_.end(), id) != members_.end(); }

  void load(NodeId id) {
    if (is_member(id) || values_.contains(id)) return;
    if (auto number = uniform_value(graph_, id)) {
      values_[id] = static_cast<float>(*number);
    } else {
      values_[id] = Register{static_cast<int>(operands_.size())};
      operands_.push_back(id);
    }
  }

  PointwiseOperand append(PointwiseProgram& program, PointwiseFunction function,
                          std::initializer_list<PointwiseOperand> operands) {
    PointwiseInstruction instruction{function};
    std::copy(operands.begin(), operands.end(), instruction.operands.begin());
    program.instructions.push_back(instruction);
    return Register{static_cast<int>(program.registers()) - 1};
  }

  PointwiseOperand emit(NodeId id, PointwiseProgram& program) {
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

  const Graph& graph_;
  NodeId root_;
  const std::vector<bool>& constant_;
  const Limits& limits_;
  std::vector<NodeId> members_, outside_, operands_;
  std::map<NodeId, PointwiseOperand> values_;
};

// f(g(x), y), ...  =>  pointwise(x, y)      g's only reader is f, shapes agree, and f32 registers hold every value
bool fuse_within(Graph& graph, PassContext& context, NodeId id, const std::vector<bool>& constant,
                 const Limits& limits) {
  if (constant[id] || !is_fusible(graph, id, limits)) return false;
  Group group(graph, id, constant, limits);
  if (group.size() < 2) return false;
  PointwiseProgram program = group.program();
  if (program.instructions.empty() || group.operands().empty()) return false;
  Pointwise op{print_pointwise(program), graph.type(id).dtype};
  auto type = graph.infer(op, group.operands());
  if (!type || !(*type == graph.type(id)) || !context.kernel_for(graph, op, group.operands())) return false;
  replace(graph, id, op, group.operands());
  return true;
}

// A group of the tighter limits where no row takes the larger one.
bool fuse(Graph& graph, PassContext& context, NodeId id, const std::vector<bool>& constant) {
  return std::ranges::any_of(kLimits,
                             [&](const Limits& limits) { return fuse_within(graph, context, id, constant, limits); });
}

}  // namespace

Status fuse_pointwise(Graph& graph, PassContext& context) {
  std::vector<bool> constant = constant_nodes(graph);
  std::vector<NodeId> order = graph.order();
  size_t before = graph.size(), groups = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it)  // users first, so that every group is as large as it can be
    if (graph[*it].alive) groups += fuse(graph, context, *it, constant);
  if (groups)
    context.notes.add("{} of element-wise ops took {} nodes", words::counted(groups, "group"),
                      before - graph.size() + groups);
  return {};
}

}  // namespace rung::passes
