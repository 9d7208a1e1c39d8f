// SigLIP: CLIP's towers with a text encoder that reads in both directions, and an image that one query pools.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/attention.hpp"
#include "import/huggingface/clip_towers.hpp"

namespace rung::huggingface {
namespace {

constexpr const char* kSiglipActivation = "gelu_pytorch_tanh";
constexpr LayerConfig kLayers{.layers = 12, .width = 768, .heads = 12, .mlp = 3072, .eps = 1e-6f};

struct SiglipImageConfig : ImageTowerConfig {
  bool has_head = true;
};

Result<TextTowerConfig> read_siglip_text(const Config& config) {
  ConfigFields fields(config);
  TextTowerConfig c =
      read_text_tower(fields, {.layer = kLayers, .vocabulary = 32000, .positions = 64}, kSiglipActivation);
  c.projection = fields.integer("projection_size", kWidthBounds, c.layer.width);
  RUNG_CHECK(check_text_tower(fields, c));
  return c;
}

Result<SiglipImageConfig> read_siglip_vision(const Config& config) {
  ConfigFields fields(config);
  SiglipImageConfig c{read_image_tower(fields, {.layer = kLayers, .image = {.patch = 16}}, kSiglipActivation)};
  c.has_head = fields.flag("vision_use_head", true);
  RUNG_CHECK(check_image_config(fields, c.layer, c.image));
  return c;
}

struct SiglipEncoded {
  NodeId hidden, pooled = kNoNode;
};

SiglipEncoded write_siglip_text(ModelFrame& frame, const TextTowerConfig& config, const Module& tower,
                                const TextInputs& in) {
  ModuleBuilder& w = frame.builder;
  const NodeId mask = padding_mask(w, in.mask, frame.dtype(), "attention_mask");
  const NodeId hidden = write_text_tower(frame, config, tower, in, mask);
  const Module head = tower.child("head");
  const NodeId last = w.token(hidden, w.graph.shape(hidden)[1] - 1, head.label);
  return {hidden, w.linear(head, last, config.projection)};
}

// One learnt query attends to all patches: T[B,width].
NodeId pool_patches(ModelFrame& frame, const SiglipImageConfig& config, const Module& m, NodeId hidden) {
  ModuleBuilder& w = frame.builder;
  const int64_t width = config.layer.width, batch = w.graph.shape(hidden)[0];
  const Module attention = m.child("attention");
  const NodeId probe = w.weight(m.tensor("probe"), {1, 1, width}, frame.dtype());
  const NodeId query = w.op(Broadcast{{batch, 1, width}}, {probe}, m.label);
  const NodeId weights = w.weight(attention.tensor("in_proj_weight"), {3 * width, width}, frame.dtype());
  const NodeId biases = w.weight(attention.tensor("in_proj_bias"), {3 * width}, frame.dtype());
  const auto project = [&](int64_t third, NodeId x) {
    const auto part = [&](NodeId all) {
      return w.op(Slice{.axis = 0, .begin = third * width, .end = (third + 1) * width}, {all}, attention.label);
    };
    Linear linear{.out = frame.dtype()};
    std::vector<NodeId> operands{x, part(weights)};
    linear.slots.put(operands, LinearSlot::bias, part(biases));
    return w.split_heads(w.op(linear, std::move(operands), attention.label), config.layer.heads, attention.label);
  };
  const Heads heads{project(0, query), project(1, hidden), project(2, hidden)};
  NodeId x = w.linear(attention.child("out_proj"), attend(w, heads, kNoNode, attention.label), width);
  const TransformerLayer layer(w, config.layer, kClipLayer);
  const NodeId h = layer.mlp(m, w.layer_norm(m.child("layernorm"), x, config.layer.eps));
  return w.token(w.binary(BinaryKind::add, x, h, m.label), 0, m.label);
}

SiglipEncoded write_siglip_image(ModelFrame& frame, const SiglipImageConfig& config, const Module& tower,
                                 NodeId pixels) {
  ModuleBuilder& w = frame.builder;
  const Module m = tower.child("embeddings"), positions = m.child("position_embedding");
  const int64_t width = config.layer.width;
  NodeId x = embed_patches(w, {m.child("patch_embedding"), config.image.patch, width}, pixels);
  const NodeId table = w.weight(positions.tensor("weight"), {config.image.patches(), width}, frame.dtype());
  x = write_image_layers(frame, config, tower, w.binary(BinaryKind::add, x, table, m.label));
  SiglipEncoded encoded{w.layer_norm(tower.child("post_layernorm"), x, config.layer.eps)};
  if (config.has_head) encoded.pooled = pool_patches(frame, config, tower.child("head"), encoded.hidden);
  return encoded;
}

void write_siglip_outputs(ModelFrame& frame, const SiglipEncoded& encoded) {
  frame.output("last_hidden_state", encoded.hidden);
  if (encoded.pooled != kNoNode) frame.output("pooler_output", encoded.pooled);
}

Result<Model> import_siglip_classifier(const ConfigSource& source, Classes classes, SiglipImageConfig config) {
  config.has_head = false;
  TensorNames names = image_tower_tensors(config);
  names.heads.emplace_back("vision_model.head.");  // the pooling, which a classifier does not read
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, std::move(names), config.dtype));
  RUNG_TRY(NodeId pixels, declare_pixels(*frame, source, config.image));
  const NodeId hidden = write_siglip_image(*frame, config, frame->encoder(), pixels).hidden;
  frame->classify(Module::of("classifier"), mean_of_tokens(frame->builder, hidden, 0));
  return frame->finish();
}

}  // namespace

Result<Model> import_siglip_text(const ConfigSource& source, Classes classes) {
  RUNG_TRY(TextTowerConfig config, read_siglip_text(source.config));
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, text_tower_tensors(config), config.dtype));
  RUNG_TRY(TextInputs in, declare_text_inputs(frame->model, source, config.sizes()));
  write_siglip_outputs(*frame, write_siglip_text(*frame, config, frame->encoder(), in));
  return frame->finish();
}

Result<Model> import_siglip_vision(const ConfigSource& source, Classes classes) {
  RUNG_TRY(SiglipImageConfig config, read_siglip_vision(source.config));
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, image_tower_tensors(config), config.dtype));
  RUNG_TRY(NodeId pixels, declare_pixels(*frame, source, config.image));
  write_siglip_outputs(*frame, write_siglip_image(*frame, config, frame->encoder(), pixels));
  return frame->finish();
}

Result<Model> import_siglip(const ConfigSource& source, Classes classes) {
  RUNG_TRY(Config text_fields, nested_config(source.config, "text_config"));
  RUNG_TRY(Config image_fields, nested_config(source.config, "vision_config"));
  RUNG_TRY(TextTowerConfig text_config, read_siglip_text(text_fields));
  RUNG_TRY(SiglipImageConfig image_config, read_siglip_vision(image_fields));
  ConfigFields fields(source.config);
  text_config.dtype = image_config.dtype = read_dtype(fields);
  RUNG_CHECK(fields.status());
  RUNG_TRY(Head head, head_of(source, classes));
  if (head == Head::image) return import_siglip_classifier(source, classes, image_config);
  if (!image_config.has_head || text_config.projection != image_config.layer.width)
    return fail("'{}': the towers' embeddings have {} and {} columns, wanted as many", source.config.what(),
                text_config.projection, image_config.has_head ? image_config.layer.width : 0);

  RUNG_TRY(auto frame, ModelFrame::open(source, classes, pair_tensors(text_config), text_config.dtype));
  RUNG_TRY(TextInputs in, declare_text_inputs(frame->model, source, text_config.sizes()));
  RUNG_TRY(NodeId pixels, declare_pixels(*frame, source, image_config.image));
  const NodeId text = write_siglip_text(*frame, text_config, Module::of("text_model"), in).pooled;
  const NodeId image = write_siglip_image(*frame, image_config, Module::of("vision_model"), pixels).pooled;
  write_similarity(*frame, text, image, {1}, frame->builder.weight("logit_bias", {1}, frame->dtype()));
  return frame->finish();
}

}  // namespace rung::huggingface
