// Declares the states of a source on either side.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/encoder_decoder/source_memory.hpp"

#include <limits>
#include <numeric>

namespace rung::huggingface {
namespace {

constexpr const char* kCount = "source_count";

std::string name_of(const char* kind, size_t layer) { return fmt::format("cross_{}.{}", kind, layer); }

}  // namespace

// The states have no first value: a decoder that reads them before its encoder has run is refused. A state that is only
// read becomes itself.
NodeId SourceMemory::declare(const std::string& name, const Type& type) {
  const std::string next = name + ".next";
  frame_.model.graph.add_state({name, next, nullptr});
  const NodeId state = frame_.model.graph.input(name, type);
  next_.push_back({next, state});
  return state;
}

Type SourceMemory::type_of_heads() const { return {frame_.dtype(), {places_, c_.heads, c_.head_width}}; }

SourceHeads SourceMemory::recall(size_t layer) {
  const auto read = [&](const char* kind) {
    const std::string name = name_of(kind, layer);
    return frame_.builder.reshape(declare(name, type_of_heads()), {1, places_, c_.heads, c_.head_width}, name);
  };
  return {read("keys"), read("values")};
}

NodeId SourceMemory::recalled_mask() { return mask_of(frame_.builder, declare(kCount, {DType::i64, {1}}), places_); }

void SourceMemory::keep(size_t layer, const SourceHeads& heads) {
  const auto write = [&](const char* kind, NodeId value) {
    const std::string name = name_of(kind, layer);
    declare(name, type_of_heads());
    next_.back().node = frame_.builder.reshape(value, type_of_heads().shape, name);
  };
  write("keys", heads.k), write("values", heads.v);
}

void SourceMemory::keep_count(NodeId count) {
  declare(kCount, {DType::i64, {1}});
  next_.back().node = count;
}

void SourceMemory::write_states() {
  for (const Output& state : next_) frame_.model.graph.set_output(state.name, state.node);
}

NodeId SourceMemory::mask_of(ModuleBuilder& w, NodeId count, int64_t places) {
  Tensor counted({DType::i64, {1, 1, 1, places}});
  const auto values = counted.as<int64_t>();
  std::iota(values.begin(), values.end(), int64_t{0});
  const NodeId is_real = w.binary(BinaryKind::lt, w.graph.literal("source_places", std::move(counted)), count, kCount);
  const NodeId none = w.scalar(-std::numeric_limits<double>::infinity(), DType::f32);
  return w.op(Select{}, {is_real, w.scalar(0, DType::f32), none}, kCount);
}

}  // namespace rung::huggingface
