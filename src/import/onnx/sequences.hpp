// Sequences of tensors: lists that are known at import, whatever their tensors hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/call.hpp"

namespace rung::onnx {

// A sequence stands among the values of a graph under a number that no node has.
class Sequences {
 public:
  // Null: it is a tensor's node.
  const Outputs* find(NodeId value) const;
  // Throws std::out_of_range where a value is a sequence.
  void want_tensor(NodeId value, const std::string& what) const;
  // Returns what an operator of sequences gives; nullopt: it is none, and reads tensors alone. Throws std::out_of_range
  // where another operator reads a sequence, or one of sequences reads something else.
  std::optional<Outputs> outputs_of(const Call& call);

 private:
  NodeId add(Outputs tensors);
  const Outputs& sequence(const Call& call, size_t input) const;
  NodeId tensor(const Call& call, size_t input) const;
  size_t place(const Call& call, size_t input, size_t count, size_t left_out, size_t more = 0) const;
  Outputs split(const Call& call) const;
  NodeId joined(const Call& call) const;

  std::vector<Outputs> all_;
  size_t tensors_ = 0;  // in all sequences together
};

}  // namespace rung::onnx
