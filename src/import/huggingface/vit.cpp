// ViT: patches and a class token through layers with norms before each part; a pooler or a classifier on top.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/vision_model.hpp"

namespace rung::huggingface {
namespace {

constexpr LayerNames kVitLayer{.attention = "attention.attention",
                               .query = "query",
                               .key = "key",
                               .value = "value",
                               .out = "attention.output.dense",
                               .attention_norm = "layernorm_before",
                               .up = "intermediate.dense",
                               .activation = "intermediate.intermediate_act_fn",
                               .down = "output.dense",
                               .mlp_norm = "layernorm_after"};

struct VitConfig {
  LayerConfig layer;
  ImageConfig image;
  int64_t pooled = 0;
  Activation pooler_activation{};
  DType dtype = DType::f32;
};

Result<VitConfig> read_vit_config(const Config& config) {
  ConfigFields fields(config);
  VitConfig c;
  c.layer = read_layer_config(fields, {.layers = 12, .width = 768, .heads = 12, .mlp = 3072}, "gelu");
  c.layer.qkv_bias = fields.flag("qkv_bias", true);
  c.image = read_image_config(fields, 16);
  c.pooled = fields.integer("pooler_output_size", kWidthBounds, c.layer.width);
  c.pooler_activation = read_activation(fields, "pooler_act", "tanh");
  c.dtype = read_dtype(fields);
  RUNG_CHECK(check_image_config(fields, c.layer, c.image));
  return c;
}

NodeId write_vit_encoder(ModelFrame& frame, const VitConfig& config, NodeId pixels) {
  ModuleBuilder& w = frame.builder;
  const Module m = frame.encoder().child("embeddings");
  const int64_t width = config.layer.width;
  const Module projection = m.child("patch_embeddings.projection");
  NodeId x = embed_patches(w, {projection, config.image.patch, width}, pixels);
  x = with_class_token(w, m.tensor("cls_token"), {1, 1, width}, x);
  const NodeId positions =
      w.weight(m.tensor("position_embeddings"), {1, config.image.patches() + 1, width}, frame.dtype());
  x = w.binary(BinaryKind::add, x, positions, m.label);
  const TransformerLayer layer(w, config.layer, kVitLayer);
  for (int64_t i = 0; i < config.layer.layers; ++i)
    x = layer.pre_norm(frame.encoder().child(fmt::format("encoder.layer.{}", i)), x, kNoNode);
  return w.layer_norm(frame.encoder().child("layernorm"), x, config.layer.eps);
}

}  // namespace

Result<Model> import_vit(const ConfigSource& source, Classes classes) {
  RUNG_TRY(VitConfig config, read_vit_config(source.config));
  TensorNames names{.prefix = "vit",
                    .probe = "embeddings.patch_embeddings.projection.weight",
                    .probe_shape = config.image.kernel_shape(config.layer.width),
                    .layers = "encoder",
                    .heads = {"classifier."},
                    .ignored = {"embeddings.mask_token", "pooler.dense.weight", "pooler.dense.bias"}};
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, std::move(names), config.dtype));
  RUNG_TRY(NodeId pixels, declare_pixels(*frame, source, config.image));
  const NodeId hidden = write_vit_encoder(*frame, config, pixels);
  ModuleBuilder& w = frame->builder;
  if (frame->head() == Head::image) {
    frame->classify(Module::of("classifier"), w.token(hidden, 0, "classifier"));
    return frame->finish();
  }
  frame->output("last_hidden_state", hidden);
  const Module pooler = frame->encoder().child("pooler"), dense = pooler.child("dense");
  if (frame->checkpoint().contains(dense.tensor("weight"))) {
    const NodeId x = w.linear(dense, w.token(hidden, 0, pooler.label), config.pooled);
    frame->output("pooler_output", config.pooler_activation.write(w, x, pooler.child("activation").label));
  }
  return frame->finish();
}

}  // namespace rung::huggingface
