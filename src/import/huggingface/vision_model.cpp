// Reads the sizes of images, and writes their patches.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/vision_model.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "import/huggingface/input_rules.hpp"

namespace rung::huggingface {
namespace {

// A field that holds one size, or the height and the width.
std::vector<int64_t> read_extent(ConfigFields& fields, const char* name, int64_t fallback) {
  if (fields.is_list(name)) return fields.integers(name, {kImageBounds, kImageBounds});
  const int64_t size = fields.integer(name, kImageBounds, fallback);
  return {size, size};
}

}  // namespace

ImageConfig read_image_config(ConfigFields& fields, int64_t patch) {
  ImageConfig c;
  const auto size = read_extent(fields, "image_size", c.height), window = read_extent(fields, "patch_size", patch);
  c.channels = fields.integer("num_channels", {1, 1024}, c.channels);
  c.height = size[0];
  c.width = size[1];
  c.patch = window[0];
  if (window[0] != window[1]) fields.mistake("patch_size is {}x{}, wanted a square", window[0], window[1]);
  if (c.patch > std::min(c.height, c.width))
    fields.mistake("patch_size {} is larger than image_size {}x{}", c.patch, c.height, c.width);
  return c;
}

LayerConfig read_layer_config(ConfigFields& fields, const LayerConfig& defaults, const char* activation) {
  LayerConfig c;
  c.layers = fields.integer("num_hidden_layers", kLayerBounds, defaults.layers);
  c.width = fields.integer("hidden_size", kWidthBounds, defaults.width);
  c.heads = fields.integer("num_attention_heads", kHeadBounds, defaults.heads);
  c.mlp = fields.integer("intermediate_size", kMlpBounds, defaults.mlp);
  c.eps = static_cast<float>(fields.number("layer_norm_eps", 0.0, 1.0, static_cast<double>(defaults.eps)));
  c.activation = read_activation(fields, "hidden_act", activation);
  if (c.width % c.heads != 0)
    fields.mistake("hidden_size {} is not a multiple of num_attention_heads {}", c.width, c.heads);
  return c;
}

Status check_patches(const ImageConfig& image) {
  if (image.patches() < kTokenBounds.max) return {};
  return fail("an image of {}x{} in patches of {}: got {} patches, wanted fewer than {}", image.height, image.width,
              image.patch, image.patches(), kTokenBounds.max);
}

Status check_image_config(ConfigFields& fields, const LayerConfig& layer, const ImageConfig& image) {
  RUNG_CHECK(fields.status());
  RUNG_CHECK(check_patches(image));
  const int64_t tables = (image.channels * image.patch * image.patch + image.patches()) * layer.width;
  return check_parameter_count("config.json", layer.parameters() + tables);
}

Result<ImageConfig> processed_image(const std::string& directory, const ImageConfig& trained) {
  const auto path = std::filesystem::path(directory) / "preprocessor_config.json";
  std::error_code ignored;
  if (directory.empty() || !std::filesystem::exists(path, ignored)) return trained;
  RUNG_TRY(Config config, Config::read(path.string()));
  RUNG_TRY(bool crops, config.get_bool_or("do_center_crop", false));
  if (!crops) return trained;
  ImageConfig image = trained;
  const IntRange bounds{trained.patch, kImageBounds.max};
  if (const auto side = config.get_int("crop_size", bounds)) {
    image.height = image.width = *side;
    return image;
  }
  RUNG_TRY(Config size, config.get_object("crop_size"));
  RUNG_TRY(image.height, size.get_int("height", bounds));
  RUNG_TRY(image.width, size.get_int("width", bounds));
  return image;
}

Shape pixels_shape(const ConfigSource& source, const ImageConfig& image) {
  return requested_shape(source.options, "pixel_values", {1, image.channels, image.height, image.width});
}

Result<NodeId> declare_pixels(ModelFrame& frame, const ConfigSource& source, const ImageConfig& image) {
  const Shape shape = pixels_shape(source, image);
  const bool fits = shape.rank() == 4 && shape[0] >= kBatchBounds.min && shape[0] <= kBatchBounds.max &&
                    shape[1] == image.channels && shape[2] == image.height && shape[3] == image.width;
  if (!fits)
    return mismatch("shape {} for pixel_values: wanted [B,{},{},{}] with B from 1 to {}", shape, image.channels,
                    image.height, image.width, kBatchBounds.max);
  const NodeId pixels = add_float_input(frame.model, "pixel_values", shape, Distribution::normal, "normalised pixels");
  return frame.builder.cast(pixels, frame.dtype(), "pixel_values");
}

NodeId embed_patches(ModuleBuilder& w, const PatchEmbedding& embedding, NodeId image) {
  const Module& m = embedding.projection;
  const DType dtype = w.graph.type(image).dtype;
  const int64_t width = embedding.width, patch = embedding.patch, channels = w.graph.shape(image)[1];
  const NodeId kernel = w.weight(m.tensor("weight"), {width, channels, patch, patch}, dtype);
  const NodeId bias = embedding.has_bias ? w.weight(m.tensor("bias"), {width}, dtype) : w.zeros({width}, dtype);
  const auto channels_last = [&](NodeId x) { return w.op(Transpose{{0, 2, 3, 1}}, {x}, m.label); };
  const NodeId x = w.op(Conv{.slots = {ConvSlot::bias}, .stride = {patch, patch}},
                        {channels_last(image), channels_last(kernel), bias}, m.label);
  const Shape grid = w.graph.shape(x);
  return w.reshape(x, {grid[0], grid[1] * grid[2], width}, m.label);
}

NodeId with_class_token(ModuleBuilder& w, const std::string& weight, const Shape& shape, NodeId patches) {
  const Shape s = w.graph.shape(patches);
  const std::string label = "embeddings";
  const NodeId token = w.reshape(w.weight(weight, shape, w.graph.type(patches).dtype), {1, 1, s[2]}, label);
  return w.op(Concat{.axis = 1}, {w.op(Broadcast{{s[0], 1, s[2]}}, {token}, label), patches}, label);
}

NodeId mean_of_tokens(ModuleBuilder& w, NodeId hidden, int64_t first) {
  const std::string label = "classifier";
  const int64_t end = w.graph.shape(hidden)[1];
  if (first > 0) hidden = w.op(Slice{.axis = 1, .begin = first, .end = end}, {hidden}, label);
  return w.op(Reduce{.kind = ReduceKind::mean, .axis = 1}, {hidden}, label);
}

}  // namespace rung::huggingface
