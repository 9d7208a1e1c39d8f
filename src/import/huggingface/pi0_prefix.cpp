// Writes what stands before the actions of a Pi0 policy.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/pi0_prefix.hpp"

#include <cmath>

#include "import/huggingface/input_rules.hpp"

namespace rung::huggingface {
namespace {

constexpr double kMasked = -2.3819763e38;  // added by Gemma to the scores of keys that must not be seen
constexpr double kRopeBase = 10000.0;

}  // namespace

Pi0PrefixInputs declare_prefix_inputs(Model& model, const Pi0Config& c) {
  Pi0PrefixInputs in{};
  in.images =
      add_float_input(model, "images", {c.views, 3, c.image, c.image}, Distribution::uniform, "pixels in [-1,1]");
  in.image_mask = add_mask_input(model, "image_mask", {DType::boolean, {c.views}}, 1);
  in.tokens = add_token_input(model, "tokens", {c.prompt}, c.vocabulary);
  in.token_mask = add_mask_input(model, "token_mask", {DType::boolean, {c.prompt}}, 1);
  return in;
}

Pi0Prefix::Pi0Prefix(ModuleBuilder& writer, const Pi0Config& config, const Pi0Tensors& tensors,
                     std::optional<DType> forced)
    : w_(writer), c_(config), t_(tensors), forced_(forced) {
  const auto& g = c_.prefix;
  vision_dtype_ = forced_.value_or(w_.stored_dtype(t_.projector + ".weight", {g.width, c_.vision.width}));
  dtype_ = forced_.value_or(
      w_.stored_dtype(t_.language + ".layers.0.self_attn.q_proj.weight", {g.heads * g.head_dim, g.width}));
}

Rotary Pi0Prefix::rotary(NodeId positions, const std::string& label) {
  return rotary_tables(w_, positions, {c_.prefix.head_dim, kRopeBase, dtype_}, label);
}

NodeId Pi0Prefix::valid(const Pi0PrefixInputs& in) {
  const std::string label = "prefix.valid";
  NodeId column = w_.reshape(in.image_mask, {c_.views, 1}, label);
  NodeId each = w_.op(Broadcast{{c_.views, c_.patches()}}, {column}, label);
  NodeId images = w_.reshape(each, {c_.views * c_.patches()}, label);
  NodeId all = w_.op(Concat{.axis = 0}, {images, in.token_mask}, label);
  return w_.reshape(all, {1, c_.prefix_tokens()}, label);
}

NodeId Pi0Prefix::embed_images(NodeId images) {
  std::vector<NodeId> views;
  for (int64_t i = 0; i < c_.views; ++i) {
    auto label = fmt::format("camera.{}", i);
    NodeId image = w_.op(Slice{.axis = 0, .begin = i, .end = i + 1}, {images}, label);
    Module tower{t_.vision, label + ".vision_tower"}, projector{t_.projector, label + ".multi_modal_projector"};
    views.push_back(write_vision_tower(w_, c_, {tower, projector, vision_dtype_}, image));
  }
  return views.size() == 1 ? views[0] : w_.op(Concat{.axis = 1}, views, "image_embeddings");
}

NodeId Pi0Prefix::embed_prompt(NodeId tokens) {
  const std::string label = "language_model.embed_tokens";
  Shape table{c_.vocabulary, c_.prefix.width};
  DType dtype = forced_.value_or(w_.stored_dtype(t_.embedding, table));
  NodeId ids = w_.reshape(tokens, {1, w_.graph.shape(tokens).product()}, label);
  NodeId rows = w_.op(Gather{.axis = 0}, {w_.weight(t_.embedding, table, dtype), ids}, label);
  return w_.scale(rows, std::sqrt(static_cast<double>(c_.prefix.width)), label);
}

NodeId Pi0Prefix::additive_mask(NodeId visible, const std::string& label) {
  const Shape s = w_.graph.shape(visible);
  NodeId condition = w_.reshape(visible, {s[0], 1, s[1], s[2]}, label);
  return w_.op(Select{}, {condition, w_.scalar(0.0, DType::f32), w_.scalar(kMasked, DType::f32)}, label);
}

GemmaPass Pi0Prefix::pass(NodeId valid) {
  const std::string label = "prefix.mask", positions = "prefix.positions";
  int64_t length = c_.prefix_tokens();
  NodeId keys = w_.reshape(valid, {1, 1, length}, label), queries = w_.reshape(valid, {1, length, 1}, label);
  GemmaPass pass;
  pass.mask = additive_mask(w_.binary(BinaryKind::logical_and, keys, queries, label), label);
  NodeId count = w_.op(CumSum{.axis = 1}, {valid}, positions);
  pass.rotary = rotary(w_.binary(BinaryKind::sub, count, w_.scalar(1, DType::i64), positions), positions);
  return pass;
}

NodeId Pi0Prefix::embedded(const Pi0PrefixInputs& in) {
  const NodeId images = w_.cast(embed_images(in.images), dtype_, "prefix");
  const NodeId prompt = w_.cast(embed_prompt(in.tokens), dtype_, "prefix");
  return w_.op(Concat{.axis = 1}, {images, prompt}, "prefix");
}

std::vector<KeyValue> Pi0Prefix::write(NodeId x, NodeId valid) {
  const GemmaPass pass = this->pass(valid);
  std::vector<KeyValue> cache(static_cast<size_t>(c_.prefix.layers));
  for (size_t i = 0; i < cache.size(); ++i) {
    Module m{fmt::format("{}.layers.{}", t_.language, i), fmt::format("language_model.layers.{}", i)};
    x = GemmaLayer(w_, c_.prefix, m).write(x, pass, {}, &cache[i]);
  }
  return cache;
}

}  // namespace rung::huggingface
