// Tells caches by their names, and writes a token's keys where they are kept.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/caches.hpp"

#include <algorithm>
#include <numeric>

#include "import/exported/inputs.hpp"
#include "import/zeros.hpp"

namespace rung::onnx {
namespace {

constexpr const char *kTokens = "input_ids", *kMask = "attention_mask", *kPlaces = "position_ids";
constexpr const char *kPast = "past_key_values.", *kPresent = "present.", *kPosition = "position";
constexpr int kPastAxis = 2;  // of a cache [1,heads,tokens,width]

const ValueInfo* named(const std::vector<ValueInfo>& values, const std::string& name) {
  const auto found = std::ranges::find(values, name, &ValueInfo::name);
  return found == values.end() ? nullptr : &*found;
}

Status settle_size(const ValueInfo& input, size_t axis, int64_t size, std::map<std::string, int64_t>& symbols) {
  if (axis >= input.shape.size()) return mismatch("input '{}': got {} axes", input.name, input.shape.size());
  const Extent& extent = input.shape[axis];
  if (extent.symbol.empty()) {
    if (extent.size == size) return {};
    return mismatch("input '{}': its axis {} is of {} in the file, wanted an open size, to be {}", input.name, axis,
                    extent.size, size);
  }
  const auto [found, added] = symbols.try_emplace(extent.symbol, size);
  if (added || found->second == size) return {};
  return mismatch("input '{}': size {} of axis {} is {}, wanted {}", input.name, extent.symbol, axis, found->second,
                  size);
}

int64_t axis_of(const NodeProto& node) {
  const auto found = std::ranges::find(node.attributes, "axis", &AttributeProto::name);
  return found == node.attributes.end() ? 0 : found->i;
}

}  // namespace

Status Caches::find(const GraphProto& graph, std::map<std::string, int64_t>& symbols) {
  if (length_ == 0) return {};
  for (const ValueInfo& input : graph.inputs) {
    if (!input.name.starts_with(kPast)) continue;
    const std::string present = kPresent + input.name.substr(std::string_view(kPast).size());
    if (!named(graph.outputs, present))
      return mismatch("input '{}' is a cache, and there is no output '{}' that it becomes", input.name, present);
    kept_.emplace(input.name, Kept{.present = present});
  }
  if (kept_.empty()) return {};
  if (length_ < 2) return wrong_usage("a cache of {} tokens: wanted at least 2", length_);
  for (const ValueInfo& input : graph.inputs) {
    const bool is_known =
        kept_.contains(input.name) || input.name == kTokens || input.name == kMask || input.name == kPlaces ||
        std::ranges::find(graph.initializers, input.name, &TensorProto::name) != graph.initializers.end();
    if (!is_known)
      return mismatch("input '{}' is not understood beside caches: wanted {}, {}, {} and {}N.key or .value", input.name,
                      kTokens, kMask, kPlaces, kPast);
  }
  if (!named(graph.inputs, kTokens)) return mismatch("there are caches, and no input '{}'", kTokens);
  if (!named(graph.inputs, kMask))
    return mismatch("there are caches, and no input '{}' that hides places without a token", kMask);
  if (!named(graph.outputs, "logits")) return mismatch("there are caches, and no output 'logits'");
  return settle_sizes(graph, symbols);
}

// One sequence, one token, and as many before it as fill the places.
Status Caches::settle_sizes(const GraphProto& graph, std::map<std::string, int64_t>& symbols) const {
  for (const ValueInfo& input : graph.inputs) {
    const auto settle_axis = [&](size_t axis, int64_t size) { return settle_size(input, axis, size, symbols); };
    if (input.name == kTokens || input.name == kPlaces || input.name == kMask) {
      RUNG_CHECK(settle_axis(0, 1));
      RUNG_CHECK(settle_axis(1, input.name == kMask ? length_ : 1));
    } else if (kept_.contains(input.name)) {
      RUNG_CHECK(settle_axis(0, 1));
      RUNG_CHECK(settle_axis(kPastAxis, length_ - 1));
    }
  }
  return {};
}

Result<std::optional<NodeId>> Caches::input(const std::string& name, const Type& type) {
  if (!are_bound() || name == kTokens) return std::nullopt;
  if (position_ == kNoNode) {
    count_ = exported::add_input(model_, "count", {DType::i64, {1}});
    position_ = model_.graph.input(kPosition, {DType::i64, {1}});
  }
  if (name == kMask) return std::optional(w_.cast(places(type, name), type.dtype, name));
  if (name == kPlaces) return std::optional(w_.cast(w_.reshape(position_, type.shape, name), type.dtype, name));
  const auto found = kept_.find(name);
  if (found == kept_.end()) return std::nullopt;
  if (type.shape.rank() != 4) return mismatch("input '{}': got {}, wanted a cache [1,heads,tokens,width]", name, type);
  return std::optional(keep(name, found->second, type));
}

// True for the places up to the token's own, bool like the mask.
NodeId Caches::places(const Type& type, const std::string& label) {
  Tensor counted({DType::i64, type.shape});
  const auto values = counted.as<int64_t>();
  std::iota(values.begin(), values.end(), int64_t{0});
  return w_.op(Binary{BinaryKind::le}, {w_.graph.literal("places", std::move(counted)), position_}, label);
}

// The state has a row for each place. What the file calls the past is all of it but one place, of which only the size
// may be asked for.
NodeId Caches::keep(const std::string& name, Kept& kept, const Type& type) {
  const Shape& shape = type.shape;
  kept.state = model_.graph.input(name, {type.dtype, {length_, shape[1], shape[3]}});
  const NodeId rows = w_.reshape(kept.state, {1, length_, shape[1], shape[3]}, name);
  kept.before = w_.op(Slice{.axis = kPastAxis, .begin = 0, .end = length_ - 1}, {w_.swap_axes(rows, 1, 2, name)}, name);
  return kept.before;
}

Result<std::optional<NodeId>> Caches::joined(const NodeProto& node, NodeId added) {
  const bool joins_two = node.op_type == "Concat" && node.domain.empty() && node.inputs.size() == 2;
  const auto found = joins_two ? kept_.find(node.inputs[0]) : kept_.end();
  if (found == kept_.end()) return std::nullopt;
  Kept& kept = found->second;
  const Type state = model_.graph.type(kept.state), got = model_.graph.type(added);
  const Shape row{1, state.shape[1], state.shape[2]};
  const int64_t axis = axis_of(node);
  if ((axis != kPastAxis && axis != kPastAxis - 4) || got != Type{state.dtype, {1, row[1], 1, row[2]}})
    return mismatch("'{}' is joined along axis {} with {}, wanted axis {} and {}", found->first, axis, got, kPastAxis,
                    Type{state.dtype, {1, row[1], 1, row[2]}});
  const std::string& label = found->first;
  kept.next = w_.op(Scatter{}, {kept.state, position_, w_.reshape(added, row, label)}, label);
  const NodeId all = w_.reshape(kept.next, {1, length_, row[1], row[2]}, label);
  return std::optional(w_.swap_axes(all, 1, 2, label));
}

bool Caches::keeps(const std::string& output) const {
  return std::ranges::any_of(kept_, [&](const auto& one) { return one.second.present == output; });
}

Status Caches::give_logits(NodeId scores) {
  const Shape shape = model_.graph.shape(scores);
  if (shape.rank() != 3 || shape[0] != 1 || shape[1] != 1)
    return mismatch("output 'logits' is {}, wanted [1,1,V]", model_.graph.type(scores));
  const NodeId row = w_.reshape(scores, {1, shape[2]}, "logits");
  model_.graph.set_output("logits", w_.cast(row, DType::f32, "logits"));
  return {};
}

Status Caches::write_states() {
  const auto add = [&](const std::string& name, NodeId state, NodeId next) {
    model_.graph.add_state({name, name + ".next", std::make_shared<Zeros>(name, model_.graph.type(state))});
    model_.graph.set_output(name + ".next", next);
  };
  add(kPosition, position_, w_.binary(BinaryKind::add, position_, count_, kPosition));
  for (const auto& [name, kept] : kept_) {
    if (kept.next == kNoNode)
      return mismatch("output '{}' is not '{}' joined with the token's own: the file's caches are not understood",
                      kept.present, name);
    add(name, kept.state, kept.next);
  }
  model_.graph.erase_dead();
  for (const auto& [name, kept] : kept_)
    if (model_.graph.heir(kept.before) == kept.before)
      return mismatch(
          "'{}' is read otherwise than to be joined with the token's own: the file's caches are not understood", name);
  return {};
}

void Caches::settle() {
  const Tensor one = Tensor::of<int64_t>({1}, {1});
  model_.defaults["count"] = {.type = one.type(),
                              .meaning = "number of tokens",
                              .value = one,
                              .sample = [one](uint64_t) { return one; },
                              .range = IntegerRange{1, 1}};
}

}  // namespace rung::onnx
