// The parts that image encoders share: the pixels that they take, their patches, and their class token.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/config_fields.hpp"
#include "import/huggingface/limits.hpp"
#include "import/huggingface/model_frame.hpp"
#include "import/huggingface/transformer_layer.hpp"

namespace rung::huggingface {

inline constexpr IntRange kImageBounds{1, 4096};

struct ImageConfig {
  int64_t channels = 3, height = 224, width = 224, patch = 16;

  int64_t rows() const { return height / patch; }
  int64_t columns() const { return width / patch; }
  int64_t patches() const { return rows() * columns(); }
  Shape kernel_shape(int64_t out) const { return {out, channels, patch, patch}; }  // of the patches' product
};

// Read fields that the published library leaves out of a nested config where they have its defaults.
ImageConfig read_image_config(ConfigFields& fields, int64_t patch);
LayerConfig read_layer_config(ConfigFields& fields, const LayerConfig& defaults, const char* activation);
// Checks that an image has no more patches than a text may have tokens.
Status check_patches(const ImageConfig& image);
// Checks that, and the number of parameters.
Status check_image_config(ConfigFields& fields, const LayerConfig& layer, const ImageConfig& image);

// Returns `trained`, or in its place the size to which preprocessor_config.json crops. Errors: the file has no size.
Result<ImageConfig> processed_image(const std::string& directory, const ImageConfig& trained);

// Returns the shape of pixel_values that is asked for, or one image of the config's size.
Shape pixels_shape(const ConfigSource& source, const ImageConfig& image);
// Declares pixel_values f32[B,channels,height,width]. Errors: another shape is asked for.
Result<NodeId> declare_pixels(ModelFrame& frame, const ConfigSource& source, const ImageConfig& image);

struct PatchEmbedding {
  Module projection;
  int64_t patch = 0, width = 0;
  bool has_bias = true;
};
// Returns T[B,patches,width] of an image T[B,channels,H,W]: a product over patches that do not overlap.
NodeId embed_patches(ModuleBuilder& w, const PatchEmbedding& embedding, NodeId image);
// Puts a token, a weight with `width` elements, before the patches of each image.
NodeId with_class_token(ModuleBuilder& w, const std::string& weight, const Shape& shape, NodeId patches);

// Returns the mean of the tokens from `first` on, T[B,width], which classifiers read.
NodeId mean_of_tokens(ModuleBuilder& w, NodeId hidden, int64_t first);

}  // namespace rung::huggingface
