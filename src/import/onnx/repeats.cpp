// Finds tensors of equal bytes.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/repeats.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace rung::onnx {
namespace {

uint64_t key_of(const Type& type, std::string_view bytes) {
  constexpr size_t kEnd = 4096;
  const size_t end = std::min(bytes.size(), kEnd);
  return hash_text(bytes.substr(bytes.size() - end), hash_text(bytes.substr(0, end), hash_text(to_string(type))));
}

}  // namespace

std::optional<NodeId> Repeats::find(const Type& type, std::string_view bytes) const {
  const auto [begin, end] = entries_.equal_range(key_of(type, bytes));
  const auto found = std::find_if(
      begin, end, [&](const auto& entry) { return entry.second.type == type && entry.second.bytes == bytes; });
  return found == end ? std::nullopt : std::optional(found->second.node);
}

void Repeats::note(const Type& type, std::string_view bytes, NodeId node) {
  entries_.emplace(key_of(type, bytes), Entry{type, bytes, node});
}

Shape without_copies(const Type& type, std::string_view bytes) {
  Shape shape = type.shape;
  if (bytes.size() != type.bytes() || bytes.empty()) return shape;
  size_t inner = size_of(type.dtype);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const auto extent = static_cast<size_t>(shape[axis]);
    const size_t run = inner * extent;
    bool same = axis < shape.rank() - 1;
    for (size_t at = 0; same && at < bytes.size(); at += run)
      same = bytes.substr(at, run - inner) == bytes.substr(at + inner, run - inner);
    if (same) shape[axis] = 1;
    inner = run;
  }
  return shape;
}

}  // namespace rung::onnx
