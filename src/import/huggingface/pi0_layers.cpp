// Builds the layers of Pi0.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/pi0_layers.hpp"

#include <cmath>

namespace rung::huggingface {
namespace {

constexpr float kSiglipEps = 1e-6f;
constexpr double kRmsEps = 1e-6;

struct Heads {
  NodeId q, k, v;  // T[1,heads,S,head_dim]; k and v have fewer heads
};

// Gives every query head its own copy of the key head that it shares.
NodeId repeat_heads(ModuleBuilder& w, NodeId x, int64_t times, const std::string& label) {
  if (times == 1) return x;
  const Shape s = w.graph.shape(x);
  NodeId apart = w.reshape(x, {s[0], s[1], 1, s[2], s[3]}, label);
  NodeId repeated = w.op(Broadcast{{s[0], s[1], times, s[2], s[3]}}, {apart}, label);
  return w.reshape(repeated, {s[0], s[1] * times, s[2], s[3]}, label);
}

// Returns softmax(scale q k' + mask) v, heads merged: T[1,S,heads*head_dim].
NodeId attend(ModuleBuilder& w, const Heads& h, NodeId mask, const std::string& label) {
  const Shape q = w.graph.shape(h.q);
  DType dtype = w.graph.type(h.q).dtype;
  int64_t repeats = q[1] / w.graph.shape(h.k)[1];
  NodeId k = repeat_heads(w, h.k, repeats, label), v = repeat_heads(w, h.v, repeats, label);
  NodeId scores = w.op(MatMul{}, {h.q, w.swap_axes(k, 2, 3, label)}, label);
  scores = w.scale(scores, 1.0 / std::sqrt(static_cast<double>(q[3])), label);
  scores = w.cast(scores, DType::f32, label);
  if (mask != kNoNode) scores = w.binary(BinaryKind::add, scores, mask, label);
  NodeId weights = w.cast(w.op(Softmax{}, {scores}, label), dtype, label);
  return w.merge_heads(w.op(MatMul{}, {weights, v}, label), label);
}

NodeId rotate_half(ModuleBuilder& w, NodeId x, const std::string& label) {
  int64_t size = w.graph.shape(x).back();
  NodeId upper = w.op(Slice{.axis = 3, .begin = size / 2, .end = size}, {x}, label);
  NodeId lower = w.op(Slice{.axis = 3, .begin = 0, .end = size / 2}, {x}, label);
  return w.op(Concat{.axis = 3}, {w.unary(UnaryKind::neg, upper, label), lower}, label);
}

NodeId rotate(ModuleBuilder& w, NodeId x, const GemmaPass& pass, const std::string& label) {
  NodeId straight = w.binary(BinaryKind::mul, x, pass.cos, label);
  NodeId turned = w.binary(BinaryKind::mul, rotate_half(w, x, label), pass.sin, label);
  return w.binary(BinaryKind::add, straight, turned, label);
}

NodeId siglip_layer(ModuleBuilder& w, const SiglipConfig& c, const Module& m, NodeId x) {
  Module attention = m.child("self_attn"), mlp = m.child("mlp");
  NodeId h = w.layer_norm(m.child("layer_norm1"), x, kSiglipEps);
  auto project = [&](const char* name) {
    return w.split_heads(w.linear(attention.child(name), h, c.width), c.heads, attention.label);
  };
  NodeId q = project("q_proj"), k = project("k_proj"), v = project("v_proj");
  NodeId attended = attend(w, {q, k, v}, kNoNode, attention.label);
  x = w.binary(BinaryKind::add, x, w.linear(attention.child("out_proj"), attended, c.width), m.label);
  h = w.layer_norm(m.child("layer_norm2"), x, kSiglipEps);
  h = w.unary(UnaryKind::gelu_tanh, w.linear(mlp.child("fc1"), h, c.mlp), mlp.child("activation_fn").label);
  return w.binary(BinaryKind::add, x, w.linear(mlp.child("fc2"), h, c.width), m.label);
}

// Returns f32[1,patches,width].
NodeId embed_patches(ModuleBuilder& w, const Pi0Config& c, const Module& m, NodeId image) {
  Module patch = m.child("patch_embedding"), position = m.child("position_embedding");
  NodeId kernel = w.weight(patch.tensor("weight"), {c.vision.width, 3, c.patch, c.patch}, DType::f32);
  NodeId bias = w.weight(patch.tensor("bias"), {c.vision.width}, DType::f32);
  NodeId x = w.op(Conv2d{.stride = c.patch}, {image, kernel, bias}, patch.label);
  x = w.swap_axes(w.reshape(x, {1, c.vision.width, c.patches()}, m.label), 1, 2, m.label);
  NodeId table = w.weight(position.tensor("weight"), {c.patches(), c.vision.width}, DType::f32);
  return w.binary(BinaryKind::add, x, table, position.label);
}

}  // namespace

NodeId write_vision_tower(ModuleBuilder& w, const Pi0Config& c, const VisionModules& modules, NodeId image) {
  const Module& tower = modules.tower;
  NodeId x = w.cast(embed_patches(w, c, tower.child("embeddings"), image), modules.dtype, tower.label);
  for (int64_t i = 0; i < c.vision.layers; ++i)
    x = siglip_layer(w, c.vision, tower.child(fmt::format("encoder.layers.{}", i)), x);
  return w.linear(modules.projector, w.layer_norm(tower.child("post_layernorm"), x, kSiglipEps), c.prefix.width);
}

NodeId write_rms_norm(ModuleBuilder& w, const Module& module, NodeId x) {
  const auto& label = module.label;
  NodeId wide = w.cast(x, DType::f32, label);
  NodeId mean = w.op(Reduce{.kind = ReduceKind::mean, .axis = -1, .keep_dim = true},
                     {w.unary(UnaryKind::square, wide, label)}, label);
  NodeId sum = w.binary(BinaryKind::add, mean, w.scalar(kRmsEps, DType::f32), label);
  NodeId normal = w.binary(BinaryKind::mul, wide, w.unary(UnaryKind::rsqrt, sum, label), label);
  NodeId weight = w.weight(module.tensor("weight"), {w.graph.shape(x).back()}, DType::f32);
  NodeId gain = w.binary(BinaryKind::add, w.scalar(1.0, DType::f32), weight, label);
  return w.cast(w.binary(BinaryKind::mul, normal, gain, label), w.graph.type(x).dtype, label);
}

NodeId GemmaLayer::attention(NodeId x, const GemmaPass& pass, const KeyValue& past, KeyValue* present) {
  Module m = m_.child("self_attn");
  auto project = [&](const char* name, int64_t heads) {
    return w_.split_heads(w_.linear(m.child(name), x, heads * c_.head_dim, false), heads, m.label);
  };
  NodeId q = project("q_proj", c_.heads);
  KeyValue kv{project("k_proj", c_.kv_heads), project("v_proj", c_.kv_heads)};
  q = rotate(w_, q, pass, m.label);
  kv.k = rotate(w_, kv.k, pass, m.label);
  if (past.k != kNoNode) {
    kv.k = w_.op(Concat{.axis = 2}, {past.k, kv.k}, m.label);
    kv.v = w_.op(Concat{.axis = 2}, {past.v, kv.v}, m.label);
  }
  if (present) *present = kv;
  return w_.linear(m.child("o_proj"), attend(w_, {q, kv.k, kv.v}, pass.mask, m.label), c_.width, false);
}

NodeId GemmaLayer::mlp(NodeId x) {
  Module m = m_.child("mlp");
  NodeId gate = w_.linear(m.child("gate_proj"), x, c_.mlp, false);
  gate = w_.unary(UnaryKind::gelu_tanh, gate, m.child("act_fn").label);
  NodeId up = w_.linear(m.child("up_proj"), x, c_.mlp, false);
  return w_.linear(m.child("down_proj"), w_.binary(BinaryKind::mul, gate, up, m.label), c_.width, false);
}

NodeId GemmaLayer::write(NodeId x, const GemmaPass& pass, const KeyValue& past, KeyValue* present) {
  NodeId h = write_rms_norm(w_, m_.child("input_layernorm"), x);
  x = w_.binary(BinaryKind::add, x, attention(h, pass, past, present), m_.label);
  h = write_rms_norm(w_, m_.child("post_attention_layernorm"), x);
  return w_.binary(BinaryKind::add, x, mlp(h), m_.label);
}

}  // namespace rung::huggingface
