// Builds the layers of Pi0.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/pi0_layers.hpp"

#include "import/huggingface/transformer_layer.hpp"
#include "import/huggingface/vision_model.hpp"

namespace rung::huggingface {
namespace {

constexpr float kSiglipEps = 1e-6f;
constexpr double kRmsEps = 1e-6;

// Gives every query head its own copy of the key head that it shares.
NodeId repeat_heads(ModuleBuilder& w, NodeId x, int64_t times, const std::string& label) {
  if (times == 1) return x;
  const Shape s = w.graph.shape(x);
  NodeId apart = w.reshape(x, {s[0], s[1], 1, s[2], s[3]}, label);
  NodeId repeated = w.op(Broadcast{{s[0], s[1], times, s[2], s[3]}}, {apart}, label);
  return w.reshape(repeated, {s[0], s[1] * times, s[2], s[3]}, label);
}

// Attends with as many key heads as query heads: T[1,S,heads*head_dim].
NodeId attend_grouped(ModuleBuilder& w, Heads heads, NodeId mask, const std::string& label) {
  const int64_t repeats = w.graph.shape(heads.q)[1] / w.graph.shape(heads.k)[1];
  heads.k = repeat_heads(w, heads.k, repeats, label);
  heads.v = repeat_heads(w, heads.v, repeats, label);
  return attend(w, heads, mask, label);
}

// Returns f32[1,patches,width].
NodeId embed_image(ModuleBuilder& w, const Pi0Config& c, const Module& m, NodeId image) {
  Module position = m.child("position_embedding");
  NodeId x = embed_patches(w, {m.child("patch_embedding"), c.patch, c.vision.width}, image);
  NodeId table = w.weight(position.tensor("weight"), {c.patches(), c.vision.width}, DType::f32);
  return w.binary(BinaryKind::add, x, table, position.label);
}

}  // namespace

NodeId write_vision_tower(ModuleBuilder& w, const Pi0Config& c, const VisionModules& modules, NodeId image) {
  const Module& tower = modules.tower;
  NodeId x = w.cast(embed_image(w, c, tower.child("embeddings"), image), modules.dtype, tower.label);
  const LayerConfig config{.layers = c.vision.layers,
                           .width = c.vision.width,
                           .heads = c.vision.heads,
                           .mlp = c.vision.mlp,
                           .eps = kSiglipEps,
                           .activation = gelu_tanh()};
  const TransformerLayer layer(w, config, kClipLayer);
  for (int64_t i = 0; i < c.vision.layers; ++i)
    x = layer.pre_norm(tower.child(fmt::format("encoder.layers.{}", i)), x, kNoNode);
  return w.linear(modules.projector, w.layer_norm(tower.child("post_layernorm"), x, kSiglipEps), c.prefix.width);
}

Normed write_rms_norm(ModuleBuilder& w, const Module& module, NodeId x, NodeId condition) {
  const auto& label = module.label;
  const DType dtype = w.graph.type(x).dtype;
  const int64_t width = w.graph.shape(x).back();
  NodeId wide = w.cast(x, DType::f32, label);
  NodeId mean = w.op(Reduce{.kind = ReduceKind::mean, .axis = -1, .keep_dim = true},
                     {w.unary(UnaryKind::square, wide, label)}, label);
  NodeId sum = w.binary(BinaryKind::add, mean, w.scalar(kRmsEps, DType::f32), label);
  NodeId normal = w.binary(BinaryKind::mul, wide, w.unary(UnaryKind::rsqrt, sum, label), label);
  const auto scaled = [&](NodeId scale) {
    return w.binary(BinaryKind::mul, normal, w.binary(BinaryKind::add, w.scalar(1.0, DType::f32), scale, label), label);
  };
  if (condition == kNoNode)
    return {w.cast(scaled(w.weight(module.tensor("weight"), {width}, DType::f32)), dtype, label)};
  const NodeId all = w.reshape(w.linear(module.child("dense"), condition, 3 * width), {3 * width}, label);
  const auto part = [&](int64_t i) { return w.op(Slice{0, i * width, (i + 1) * width, 1}, {all}, label); };
  const NodeId shifted = w.binary(BinaryKind::add, scaled(part(0)), part(1), label);
  return {w.cast(shifted, dtype, label), w.cast(part(2), dtype, label)};
}

NodeId GemmaLayer::attention(NodeId x, const GemmaPass& pass, const KeyValue& past, KeyValue* present) {
  Module m = m_.child("self_attn");
  auto project = [&](const char* name, int64_t heads) {
    return w_.split_heads(w_.linear(m.child(name), x, heads * c_.head_dim, false), heads, m.label);
  };
  NodeId q = project("q_proj", c_.heads);
  KeyValue kv{project("k_proj", c_.kv_heads), project("v_proj", c_.kv_heads)};
  q = rotate(w_, q, pass.rotary, m.label);
  kv.k = rotate(w_, kv.k, pass.rotary, m.label);
  if (pass.remember) kv = pass.remember(kv);
  if (past.k != kNoNode) {
    kv.k = w_.op(Concat{.axis = 2}, {past.k, kv.k}, m.label);
    kv.v = w_.op(Concat{.axis = 2}, {past.v, kv.v}, m.label);
  }
  if (present) *present = kv;
  return w_.linear(m.child("o_proj"), attend_grouped(w_, {q, kv.k, kv.v}, pass.mask, m.label), c_.width, false);
}

NodeId GemmaLayer::mlp(NodeId x) {
  Module m = m_.child("mlp");
  NodeId gate = w_.linear(m.child("gate_proj"), x, c_.mlp, false);
  gate = w_.unary(UnaryKind::gelu_tanh, gate, m.child("act_fn").label);
  NodeId up = w_.linear(m.child("up_proj"), x, c_.mlp, false);
  return w_.linear(m.child("down_proj"), w_.binary(BinaryKind::mul, gate, up, m.label), c_.width, false);
}

NodeId GemmaLayer::residual(NodeId x, NodeId y, NodeId gate) {
  if (gate != kNoNode) y = w_.binary(BinaryKind::mul, y, gate, m_.label);
  return w_.binary(BinaryKind::add, x, y, m_.label);
}

NodeId GemmaLayer::write(NodeId x, const GemmaPass& pass, const KeyValue& past, KeyValue* present) {
  Normed h = write_rms_norm(w_, m_.child("input_layernorm"), x, pass.condition);
  x = residual(x, attention(h.x, pass, past, present), h.gate);
  h = write_rms_norm(w_, m_.child("post_attention_layernorm"), x, pass.condition);
  return residual(x, mlp(h.x), h.gate);
}

}  // namespace rung::huggingface
