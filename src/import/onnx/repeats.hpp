// Tensors of a file that have equal bytes, as a whole or in parts: exporters that unroll a loop may write a weight once
// for each round.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <unordered_map>

#include "ir/graph.hpp"

namespace rung::onnx {

class Repeats {
 public:
  // Returns the node of an earlier tensor of this type and these bytes, which must outlive this; none: there is none.
  std::optional<NodeId> find(const Type& type, std::string_view bytes) const;
  void note(const Type& type, std::string_view bytes, NodeId node);

 private:
  struct Entry {
    Type type;
    std::string_view bytes;
    NodeId node;
  };
  std::unordered_multimap<uint64_t, Entry> entries_;  // by a hash of both ends: few weights are read as a whole
};

// Returns the shape with 1 for each axis but the last along which all elements are the same: exporters that fold
// constants write a row out as often as it is read.
Shape without_copies(const Type& type, std::string_view bytes);

}  // namespace rung::onnx
