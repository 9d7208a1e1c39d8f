// Sequences of tensors: lists that are known at import, whatever their tensors hold.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/sequences.hpp"

#include <algorithm>

namespace rung::onnx {
namespace {

using exported::refuse;

// Numbers of nodes count from 0, those of sequences from below kNoNode down.
constexpr size_t kMostSequences = size_t{1} << 20;
constexpr size_t kMostTensors = size_t{1} << 24;  // in all sequences together

}  // namespace

const Outputs* Sequences::find(NodeId value) const {
  const size_t index = size_t{kNoNode} - 1 - value;
  return value != kNoNode && index < all_.size() ? &all_[index] : nullptr;
}

void Sequences::want_tensor(NodeId value, const std::string& what) const {
  if (find(value)) refuse("{}: got a sequence, wanted a tensor", what);
}

NodeId Sequences::add(Outputs tensors) {
  tensors_ += tensors.size();
  if (all_.size() == kMostSequences || tensors_ > kMostTensors)
    refuse("got more than {} sequences, or {} tensors in them", kMostSequences, kMostTensors);
  all_.push_back(std::move(tensors));
  return kNoNode - static_cast<NodeId>(all_.size());
}

const Outputs& Sequences::sequence(const Call& call, size_t input) const {
  const Outputs* found = find(call[input]);
  if (!found) refuse("input {}: got {}, wanted a sequence", input, call.type(call[input]));
  return *found;
}

NodeId Sequences::tensor(const Call& call, size_t input) const {
  want_tensor(call[input], fmt::format("input {}", input));
  return call[input];
}

// Returns a place below `count`, or as many more, which counts from the count where it is negative.
size_t Sequences::place(const Call& call, size_t input, size_t count, size_t left_out, size_t more) const {
  if (!call.has(input)) return left_out;
  tensor(call, input);
  const int64_t given = call.integer_of(input), all = static_cast<int64_t>(count);
  const int64_t from_front = given < 0 ? given + all : given;
  if (from_front < 0 || from_front >= all + static_cast<int64_t>(more)) refuse("got place {} of {}", given, count);
  return static_cast<size_t>(from_front);
}

// Parts of one size, the last of them what is left, of the sizes given, or of one place each.
Outputs Sequences::split(const Call& call) const {
  const NodeId x = tensor(call, 0);
  const int axis = call.axis(x, call.integer("axis", 0));
  const int64_t extent = call.shape(x)[axis];
  std::vector<int64_t> sizes{1};
  if (call.has(1)) sizes = call.integers_of(1);
  if (!call.has(1) || call.rank(tensor(call, 1)) == 0) {
    const int64_t size = sizes[0];
    if (size < 1) refuse("parts of {} places, wanted at least 1", size);
    sizes.assign(static_cast<size_t>(extent / size), size);
    if (extent % size != 0) sizes.push_back(extent % size);
  }
  Outputs parts = call.split(x, axis, sizes);
  if (!call.has(1) && call.integer("keepdims", 1) == 0)
    for (NodeId& part : parts) part = call.select_index(part, axis, 0);
  return parts;
}

NodeId Sequences::joined(const Call& call) const {
  Outputs tensors = sequence(call, 0);
  if (tensors.empty()) refuse("got an empty sequence, wanted tensors to join");
  const int64_t axis = call.integer("axis");
  if (call.integer("new_axis", 0) != 0)
    for (NodeId& one : tensors) one = call.unsqueeze(one, axis);
  return call.concat(tensors, axis);
}

std::optional<Outputs> Sequences::outputs_of(const Call& call) {
  const std::string& name = call.node().op_type;
  if (call.node().domain.empty()) {
    if (name == "SequenceEmpty") return Outputs{add({})};
    if (name == "SplitToSequence") return Outputs{add(split(call))};
    if (name == "ConcatFromSequence") return Outputs{joined(call)};
    if (name == "SequenceLength")
      return Outputs{call.scalar(static_cast<double>(sequence(call, 0).size()), DType::i64)};
    if (name == "Identity" && call.has(0) && find(call[0])) return Outputs{call[0]};
    if (name == "SequenceConstruct") {
      Outputs tensors;
      for (size_t i = 0; i < call.count(); ++i) tensors.push_back(tensor(call, i));
      return Outputs{add(std::move(tensors))};
    }
    if (name == "SequenceAt") {
      const Outputs& tensors = sequence(call, 0);
      return Outputs{tensors[place(call, 1, tensors.size(), 0)]};
    }
    if (name == "SequenceInsert" || name == "SequenceErase") {
      Outputs tensors = sequence(call, 0);
      const bool inserts = name == "SequenceInsert";
      const size_t count = tensors.size();
      if (!inserts && count == 0) refuse("got an empty sequence, of which nothing can be erased");
      const size_t at = inserts ? place(call, 2, count, count, 1) : place(call, 1, count, count - 1);
      const auto where = tensors.begin() + static_cast<std::ptrdiff_t>(at);
      inserts ? tensors.insert(where, tensor(call, 1)) : tensors.erase(where);
      return Outputs{add(std::move(tensors))};
    }
  }
  for (size_t i = 0; i < call.count(); ++i)
    if (call.has(i)) tensor(call, i);
  return std::nullopt;
}

}  // namespace rung::onnx
