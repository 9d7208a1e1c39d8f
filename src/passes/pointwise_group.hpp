// Element-wise ops with one result that can run in one sweep.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "ir/graph.hpp"
#include "ir/pointwise.hpp"

namespace rung::passes {

// The limits of a group: generated code has room for more than the interpreters, computes formulas, and reads and
// stores bytes.
struct PointwiseLimits {
  size_t operands, nodes;
  bool generated;
};
inline constexpr PointwiseLimits kGeneratedLimits{16, 64, true}, kInterpretedLimits{8, 24, false};

// Returns whether the op works element by element, and registers of f32 hold each of its values.
bool is_pointwise(const Graph& graph, NodeId id, const PointwiseLimits& limits);

// A root and the nodes that only it reads, directly or through others of the group.
class PointwiseGroup {
 public:
  // `constant` is constant_nodes() of the graph.
  PointwiseGroup(const Graph& graph, NodeId root, const std::vector<bool>& constant, const PointwiseLimits& limits);

  size_t size() const { return members_.size(); }
  const std::vector<NodeId>& operands() const { return operands_; }  // what program() reads
  // Returns the program, in order of dependence.
  PointwiseProgram program();
  // Returns whether no node but members reads it, and it is no output.
  bool has_all_readers_of(NodeId id) const;

 private:
  void take(NodeId id);
  bool belongs(NodeId id) const;
  bool is_member(NodeId id) const;
  void load(NodeId id);
  PointwiseOperand append(PointwiseProgram& program, PointwiseFunction function,
                          std::initializer_list<PointwiseOperand> operands);
  PointwiseOperand emit(NodeId id, PointwiseProgram& program);

  const Graph& graph_;
  NodeId root_;
  const std::vector<bool>& constant_;
  const PointwiseLimits& limits_;
  std::vector<NodeId> members_, outside_, operands_;
  std::map<NodeId, PointwiseOperand> values_;
};

}  // namespace rung::passes
