// CLIP: a causal text encoder, an image encoder with a class token, and the projections that make them comparable.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "import/exported/emit.hpp"
#include "import/huggingface/attention.hpp"
#include "import/huggingface/clip_towers.hpp"

namespace rung::huggingface {
namespace {

constexpr const char* kClipActivation = "quick_gelu";
constexpr int64_t kProjection = 512;  // where config.json does not say

struct ClipTextConfig : TextTowerConfig {
  int64_t end = 0;  // the id of the token that ends a text
};

// Reads the tower's own config; its width of projection is for models of that tower alone.
Result<ClipTextConfig> read_clip_text(const Config& config) {
  ConfigFields fields(config);
  const LayerConfig layer{.layers = 12, .width = 512, .heads = 8, .mlp = 2048, .eps = 1e-5f};
  ClipTextConfig c{read_text_tower(fields, {.layer = layer, .vocabulary = 49408, .positions = 77}, kClipActivation)};
  c.projection = fields.integer("projection_dim", kWidthBounds, kProjection);
  c.end = fields.integer("eos_token_id", {0, INT32_MAX}, 49407);
  RUNG_CHECK(check_text_tower(fields, c));
  return c;
}

Result<ImageTowerConfig> read_clip_vision(const Config& config) {
  ConfigFields fields(config);
  const LayerConfig layer{.layers = 12, .width = 768, .heads = 12, .mlp = 3072, .eps = 1e-5f};
  ImageTowerConfig c = read_image_tower(fields, {.layer = layer, .image = {.patch = 32}}, kClipActivation);
  c.projection = fields.integer("projection_dim", kWidthBounds, kProjection);
  RUNG_CHECK(check_image_config(fields, c.layer, c.image));
  return c;
}

// Earlier files keep a tower's fields in NAME_config_dict too, which then counts alone.
Result<Config> tower_config(const Config& config, const std::string& name) {
  const bool is_early = config.contains(name + "_dict");
  return nested_config(config, is_early ? name + "_dict" : name);
}

// Returns T[B,width]: the state of the first token that ends the text. Where the config has the id 2, which was a
// mistake of early files, the highest id ends a text.
NodeId at_end(ModelFrame& frame, const ClipTextConfig& config, NodeId tokens, NodeId hidden) {
  ModuleBuilder& w = frame.builder;
  const std::string label = "pooled";
  const exported::Emit emit(w, label);
  const Shape s = w.graph.shape(hidden);
  constexpr int64_t kMistaken = 2;
  if (config.end != kMistaken)
    tokens = w.cast(w.binary(BinaryKind::eq, tokens, w.scalar(static_cast<double>(config.end), DType::i64), label),
                    DType::f32, label);
  const NodeId place = w.cast(emit.arg_max(tokens, 1, false), DType::i64, label);
  Tensor begins({DType::i64, {s[0]}});
  for (int64_t row = 0; row < s[0]; ++row) begins.as<int64_t>()[static_cast<size_t>(row)] = row * s[1];
  const NodeId rows = w.binary(BinaryKind::add, place, w.graph.literal(label + ".rows", std::move(begins)), label);
  return w.op(Gather{.axis = 0}, {w.reshape(hidden, {s[0] * s[1], s[2]}, label), rows}, label);
}

struct ClipEncoded {
  NodeId hidden, pooled;
};

ClipEncoded write_clip_text(ModelFrame& frame, const ClipTextConfig& config, const Module& tower,
                            const TextInputs& in) {
  const auto is_before = [](int64_t i, int64_t j) { return j <= i; };
  const NodeId mask = limited_mask(frame.builder, in.mask, frame.dtype(), is_before);
  const NodeId hidden = write_text_tower(frame, config, tower, in, mask);
  return {hidden, at_end(frame, config, in.tokens, hidden)};
}

ClipEncoded write_clip_image(ModelFrame& frame, const ImageTowerConfig& config, const Module& tower, NodeId pixels) {
  ModuleBuilder& w = frame.builder;
  const Module m = tower.child("embeddings"), positions = m.child("position_embedding");
  const int64_t width = config.layer.width;
  NodeId x = embed_patches(w, {m.child("patch_embedding"), config.image.patch, width, false}, pixels);
  x = with_class_token(w, m.tensor("class_embedding"), {width}, x);
  const int64_t tokens = config.image.patches() + 1;
  const NodeId table = w.weight(positions.tensor("weight"), {tokens, width}, frame.dtype());
  x = w.binary(BinaryKind::add, x, w.reshape(table, {1, tokens, width}, positions.label), m.label);
  x = w.layer_norm(tower.child("pre_layrnorm"), x, config.layer.eps);
  const NodeId hidden = write_image_layers(frame, config, tower, x);
  const Module last = tower.child("post_layernorm");
  return {hidden, w.layer_norm(last, w.token(hidden, 0, last.label), config.layer.eps)};
}

// Adds what a tower gives as a model of its own: with a projection, its embedding in place of the pooled state.
void write_clip_outputs(ModelFrame& frame, const ClipEncoded& encoded, const Module& projection, const char* name,
                        int64_t width) {
  if (frame.head() == Head::projection)
    frame.output(name, frame.builder.linear(projection, encoded.pooled, width, false));
  frame.output("last_hidden_state", encoded.hidden);
  if (frame.head() != Head::projection) frame.output("pooler_output", encoded.pooled);
}

Result<Model> import_clip_classifier(const ConfigSource& source, Classes classes, const ImageTowerConfig& config) {
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, image_tower_tensors(config), config.dtype));
  RUNG_TRY(NodeId pixels, declare_pixels(*frame, source, config.image));
  const NodeId hidden = write_clip_image(*frame, config, frame->encoder(), pixels).hidden;
  frame->classify(Module::of("classifier"), mean_of_tokens(frame->builder, hidden, 1));
  return frame->finish();
}

}  // namespace

Result<Model> import_clip_text(const ConfigSource& source, Classes classes) {
  RUNG_TRY(ClipTextConfig config, read_clip_text(source.config));
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, text_tower_tensors(config), config.dtype));
  RUNG_TRY(TextInputs in, declare_text_inputs(frame->model, source, config.sizes()));
  RUNG_CHECK(check_pairs(*frame, in));
  write_clip_outputs(*frame, write_clip_text(*frame, config, frame->encoder(), in), Module::of("text_projection"),
                     "text_embeds", config.projection);
  return frame->finish();
}

Result<Model> import_clip_vision(const ConfigSource& source, Classes classes) {
  RUNG_TRY(ImageTowerConfig config, read_clip_vision(source.config));
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, image_tower_tensors(config), config.dtype));
  RUNG_TRY(NodeId pixels, declare_pixels(*frame, source, config.image));
  write_clip_outputs(*frame, write_clip_image(*frame, config, frame->encoder(), pixels),
                     Module::of("visual_projection"), "image_embeds", config.projection);
  return frame->finish();
}

Result<Model> import_clip(const ConfigSource& source, Classes classes) {
  RUNG_TRY(Config text_fields, tower_config(source.config, "text_config"));
  RUNG_TRY(Config image_fields, tower_config(source.config, "vision_config"));
  RUNG_TRY(ClipTextConfig text_config, read_clip_text(text_fields));
  RUNG_TRY(ImageTowerConfig image_config, read_clip_vision(image_fields));
  ConfigFields fields(source.config);
  const int64_t projection = fields.integer("projection_dim", kWidthBounds, kProjection);
  text_config.dtype = image_config.dtype = read_dtype(fields);
  RUNG_CHECK(fields.status());
  RUNG_TRY(Head head, head_of(source, classes));
  if (head == Head::image) return import_clip_classifier(source, classes, image_config);

  RUNG_TRY(auto frame, ModelFrame::open(source, classes, pair_tensors(text_config), text_config.dtype));
  RUNG_TRY(TextInputs in, declare_text_inputs(frame->model, source, text_config.sizes()));
  RUNG_CHECK(check_pairs(*frame, in));
  RUNG_TRY(NodeId pixels, declare_pixels(*frame, source, image_config.image));
  const Module text = Module::of("text_model"), image = Module::of("vision_model");
  const ClipEncoded words = write_clip_text(*frame, text_config, text, in);
  const ClipEncoded picture = write_clip_image(*frame, image_config, image, pixels);
  const auto project = [&](const char* name, NodeId x) {
    return frame->builder.linear(Module::of(name), x, projection, false);
  };
  write_similarity(*frame, project("text_projection", words.pooled), project("visual_projection", picture.pooled), {},
                   kNoNode);
  return frame->finish();
}

}  // namespace rung::huggingface
