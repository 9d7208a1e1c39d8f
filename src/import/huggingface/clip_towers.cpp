// Writes both towers under the names that CLIP gave their modules.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/clip_towers.hpp"

#include <nlohmann/json.hpp>

namespace rung::huggingface {
namespace {

NodeId write_layers(ModelFrame& frame, const LayerConfig& config, const Module& tower, NodeId x, NodeId mask) {
  const TransformerLayer layer(frame.builder, config, kClipLayer);
  for (int64_t i = 0; i < config.layers; ++i)
    x = layer.pre_norm(tower.child(fmt::format("encoder.layers.{}", i)), x, mask);
  return x;
}

}  // namespace

TextTowerConfig read_text_tower(ConfigFields& fields, const TextTowerConfig& defaults, const char* activation) {
  TextTowerConfig c;
  c.layer = read_layer_config(fields, defaults.layer, activation);
  c.vocabulary = fields.integer("vocab_size", kVocabularyBounds, defaults.vocabulary);
  c.positions = fields.integer("max_position_embeddings", kTokenBounds, defaults.positions);
  c.dtype = read_dtype(fields);
  return c;
}

ImageTowerConfig read_image_tower(ConfigFields& fields, const ImageTowerConfig& defaults, const char* activation) {
  ImageTowerConfig c;
  c.layer = read_layer_config(fields, defaults.layer, activation);
  c.image = read_image_config(fields, defaults.image.patch);
  c.dtype = read_dtype(fields);
  if (c.image.height != c.image.width)
    fields.mistake("image_size is {}x{}, wanted a square", c.image.height, c.image.width);
  return c;
}

Status check_text_tower(ConfigFields& fields, const TextTowerConfig& config) {
  RUNG_CHECK(fields.status());
  const int64_t tables = (config.vocabulary + config.positions + config.projection) * config.layer.width;
  return check_parameter_count("config.json", config.layer.parameters() + tables);
}

Result<Config> nested_config(const Config& config, const std::string& name) {
  if (config.contains(name)) return config.get_object(name);
  return Config::of(nlohmann::json::object(), fmt::format("{}: {}", config.what(), name));
}

TensorNames text_tower_tensors(const TextTowerConfig& config) {
  return {.prefix = "text_model",
          .probe = "embeddings.token_embedding.weight",
          .probe_shape = {config.vocabulary, config.layer.width},
          .layers = "encoder",
          .heads = {"text_projection."},
          .ignored = {"embeddings.position_ids"}};
}

TensorNames image_tower_tensors(const ImageTowerConfig& config) {
  return {.prefix = "vision_model",
          .probe = "embeddings.patch_embedding.weight",
          .probe_shape = config.image.kernel_shape(config.layer.width),
          .layers = "encoder",
          .heads = {"visual_projection.", "classifier."},
          .ignored = {"embeddings.position_ids"}};
}

TensorNames pair_tensors(const TextTowerConfig& config) {
  TensorNames names = text_tower_tensors(config);
  return {.prefix = "",
          .probe = names.prefix + "." + names.probe,
          .probe_shape = names.probe_shape,
          .layers = "*.encoder",
          .heads = {},
          .ignored = names.ignored};
}

NodeId write_text_tower(ModelFrame& frame, const TextTowerConfig& config, const Module& tower, const TextInputs& in,
                        NodeId mask) {
  ModuleBuilder& w = frame.builder;
  const Module m = tower.child("embeddings"), table = m.child("position_embedding");
  const int64_t width = config.layer.width, length = w.graph.shape(in.tokens)[1];
  const NodeId words = embed(frame, m.child("token_embedding"), {config.vocabulary, width}, in.tokens);
  const NodeId positions = position_range(frame, table.child("position_ids").label, length);
  const NodeId places = embed(frame, table, {config.positions, width}, positions);
  const NodeId x = w.binary(BinaryKind::add, words, places, m.label);
  return w.layer_norm(tower.child("final_layer_norm"), write_layers(frame, config.layer, tower, x, mask),
                      config.layer.eps);
}

NodeId write_image_layers(ModelFrame& frame, const ImageTowerConfig& config, const Module& tower, NodeId x) {
  return write_layers(frame, config.layer, tower, x, kNoNode);
}

void write_similarity(ModelFrame& frame, NodeId text, NodeId image, const Shape& scale, NodeId bias) {
  ModuleBuilder& w = frame.builder;
  const std::string label = "similarity";
  text = w.op(L2Normalize{}, {text}, label);
  image = w.op(L2Normalize{}, {image}, label);
  const NodeId factor = w.unary(UnaryKind::exp, w.weight("logit_scale", scale, frame.dtype()), label);
  NodeId scores = w.op(MatMul{}, {text, w.swap_axes(image, 0, 1, label)}, label);
  scores = w.binary(BinaryKind::mul, scores, factor, label);
  if (bias != kNoNode) scores = w.binary(BinaryKind::add, scores, bias, label);
  frame.output("logits_per_image", w.swap_axes(scores, 0, 1, label));
  frame.output("logits_per_text", scores);
  frame.output("text_embeds", text);
  frame.output("image_embeds", image);
}

}  // namespace rung::huggingface
