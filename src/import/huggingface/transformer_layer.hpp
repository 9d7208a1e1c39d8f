// The layer that most encoders share: attention and an MLP, each with a residual sum and a norm before or behind it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/activation.hpp"
#include "import/huggingface/module_builder.hpp"

namespace rung::huggingface {

// The names of a layer's modules. Those of query, key and value are within `attention`.
struct LayerNames {
  const char *attention, *query, *key, *value, *out, *attention_norm;
  const char *up, *activation, *down, *mlp_norm;
};
// The names of BERT's modules, which ViT's extend.
inline constexpr LayerNames kBertLayer{.attention = "attention.self",
                                       .query = "query",
                                       .key = "key",
                                       .value = "value",
                                       .out = "attention.output.dense",
                                       .attention_norm = "attention.output.LayerNorm",
                                       .up = "intermediate.dense",
                                       .activation = "intermediate.intermediate_act_fn",
                                       .down = "output.dense",
                                       .mlp_norm = "output.LayerNorm"};
// The names of CLIP's modules, which SigLIP took over.
inline constexpr LayerNames kClipLayer{.attention = "self_attn",
                                       .query = "q_proj",
                                       .key = "k_proj",
                                       .value = "v_proj",
                                       .out = "self_attn.out_proj",
                                       .attention_norm = "layer_norm1",
                                       .up = "mlp.fc1",
                                       .activation = "mlp.activation_fn",
                                       .down = "mlp.fc2",
                                       .mlp_norm = "layer_norm2"};

struct LayerConfig {
  int64_t layers = 0, width = 0, heads = 0, mlp = 0;
  float eps = 1e-12f;
  Activation activation{};
  bool qkv_bias = true;

  int64_t parameters() const { return layers * (4 * width * width + 2 * width * mlp); }
};

// Writes layers of x T[B,S,width]. `mask` is added to the scores (attention.hpp); kNoNode: none.
class TransformerLayer {
 public:
  TransformerLayer(ModuleBuilder& builder, const LayerConfig& config, const LayerNames& names)
      : w_(builder), c_(config), names_(names) {}

  // norm(x + attention(x)), then norm(x + mlp(x))
  NodeId post_norm(const Module& layer, NodeId x, NodeId mask) const;
  // x + attention(norm(x)), then x + mlp(norm(x))
  NodeId pre_norm(const Module& layer, NodeId x, NodeId mask) const;

  NodeId attention(const Module& layer, NodeId x, NodeId mask) const;
  NodeId mlp(const Module& layer, NodeId x) const;
  NodeId attention_norm(const Module& layer, NodeId x) const;
  NodeId mlp_norm(const Module& layer, NodeId x) const;

 private:
  ModuleBuilder& w_;
  const LayerConfig& c_;
  const LayerNames& names_;
};

}  // namespace rung::huggingface
