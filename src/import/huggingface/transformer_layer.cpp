// Writes attention, MLP and norms under the names of an architecture's modules.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/transformer_layer.hpp"

#include "import/huggingface/attention.hpp"

namespace rung::huggingface {

NodeId TransformerLayer::attention(const Module& layer, NodeId x, NodeId mask) const {
  const Module m = layer.child(names_.attention);
  const auto project = [&](const char* name) {
    return w_.split_heads(w_.linear(m.child(name), x, c_.width, c_.qkv_bias), c_.heads, m.label);
  };
  const NodeId q = project(names_.query), k = project(names_.key), v = project(names_.value);
  return w_.linear(layer.child(names_.out), attend(w_, {q, k, v}, mask, m.label), c_.width);
}

NodeId TransformerLayer::mlp(const Module& layer, NodeId x) const {
  const NodeId h = w_.linear(layer.child(names_.up), x, c_.mlp);
  return w_.linear(layer.child(names_.down), c_.activation.write(w_, h, layer.child(names_.activation).label),
                   c_.width);
}

NodeId TransformerLayer::attention_norm(const Module& layer, NodeId x) const {
  return w_.layer_norm(layer.child(names_.attention_norm), x, c_.eps);
}
NodeId TransformerLayer::mlp_norm(const Module& layer, NodeId x) const {
  return w_.layer_norm(layer.child(names_.mlp_norm), x, c_.eps);
}

NodeId TransformerLayer::post_norm(const Module& layer, NodeId x, NodeId mask) const {
  x = attention_norm(layer, w_.binary(BinaryKind::add, attention(layer, x, mask), x, layer.label));
  return mlp_norm(layer, w_.binary(BinaryKind::add, mlp(layer, x), x, layer.label));
}

NodeId TransformerLayer::pre_norm(const Module& layer, NodeId x, NodeId mask) const {
  x = w_.binary(BinaryKind::add, x, attention(layer, attention_norm(layer, x), mask), layer.label);
  return w_.binary(BinaryKind::add, x, mlp(layer, mlp_norm(layer, x)), layer.label);
}

}  // namespace rung::huggingface
