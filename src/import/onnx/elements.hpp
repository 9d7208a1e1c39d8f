// Elements of types that tensors of ours do not have: which nodes carry some, and what operators do with them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <unordered_map>

#include "import/onnx/call.hpp"
#include "import/onnx/tensors.hpp"

namespace rung::onnx {

// The element types of the nodes that carry another type than their own, by ONNX's numbers.
class Elements {
 public:
  void note(NodeId node, int64_t data_type);
  NodeId noted(NodeId node, int64_t data_type) { return note(node, data_type), node; }
  std::optional<Carried> of(NodeId node) const;

  // Returns the results of a node with what they carry noted; integers wrap around as in the type that they stand for.
  // Errors: an operator that has no rule for a carried type.
  Result<Outputs> settled(const Call& call, Outputs results);
  // Throws where an operator compares or divides numbers of 64 bits without a sign whose highest bit may be set.
  void check(const Call& call) const;

 private:
  std::optional<Carried> of_inputs(const Call& call) const;

  std::unordered_map<NodeId, int64_t> numbers_;
  std::unordered_map<NodeId, bool> computed_;  // of 64 bits without a sign: the highest bit may be set
};

// x as elements of another type. `mode` is the rounding of powers of two: up, down or nearest.
NodeId converted(const Call& call, NodeId x, int64_t data_type, bool saturates, std::string_view mode = "up");
// x modulo the size of an integer type.
NodeId wrapped(const Call& call, NodeId x, const Carried& type);

}  // namespace rung::onnx
