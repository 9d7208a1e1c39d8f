// The caches of a decoder's file in Optimum's names, past_key_values.N.key and present.N.key, as states of fixed size.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "import/graph_builder.hpp"
#include "import/model.hpp"
#include "import/onnx/proto.hpp"

namespace rung::onnx {

// The file's graph joins the keys of the tokens before with those of its own. With a cache of K places it runs as if
// K - 1 tokens stood before one: in place of joining, the token's keys are written to its place among K, and the mask
// hides the places behind it. The graph then is one of a decoder that remembers its text (import/model.hpp).
class Caches {
 public:
  // `length`: the places; 0: the file's caches stay inputs and outputs.
  Caches(GraphBuilder& builder, Model& model, int64_t length) : w_(builder), model_(model), length_(length) {}

  // Finds the caches and settles the sizes that they decide, by the names of symbols. Errors (mismatch): caches whose
  // names or sizes are not understood, and inputs that a decoder does not have.
  Status find(const GraphProto& graph, std::map<std::string, int64_t>& symbols);
  bool are_bound() const { return !kept_.empty(); }

  // Returns what stands for an input of the file; none: it stays an input. `type`: as it would be declared.
  Result<std::optional<NodeId>> input(const std::string& name, const Type& type);
  // Returns what stands for a node that joins a cache with new keys; none: it is another node.
  Result<std::optional<NodeId>> joined(const NodeProto& node, NodeId added);
  // Returns whether an output of the file becomes a state.
  bool keeps(const std::string& output) const;
  // Replaces the scores of the one token, [1,1,V], by logits f32[1,V].
  Status give_logits(NodeId scores);
  // Adds the outputs that become the states. Errors (mismatch): a cache that the graph reads otherwise.
  Status write_states();
  // Gives the input `count` its rule.
  void settle();

 private:
  struct Kept {
    std::string present;
    NodeId state = kNoNode, next = kNoNode;
    NodeId before = kNoNode;  // of the tokens before, for what asks for its size alone
  };
  Status settle_sizes(const GraphProto& graph, std::map<std::string, int64_t>& symbols) const;
  NodeId keep(const std::string& name, Kept& kept, const Type& type);
  NodeId places(const Type& type, const std::string& label);

  GraphBuilder& w_;
  Model& model_;
  int64_t length_;
  std::map<std::string, Kept> kept_;             // by the input
  NodeId position_ = kNoNode, count_ = kNoNode;  // i64[1]
};

}  // namespace rung::onnx
