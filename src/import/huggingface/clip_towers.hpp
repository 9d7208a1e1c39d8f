// The towers of CLIP and SigLIP: a text encoder and an image encoder of the same layers, and their comparison.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/text_model.hpp"
#include "import/huggingface/vision_model.hpp"

namespace rung::huggingface {

struct TextTowerConfig {
  LayerConfig layer;
  int64_t vocabulary = 0, positions = 0;
  int64_t projection = 0;  // width of the text's embedding
  DType dtype = DType::f32;

  TextSizes sizes() const { return {vocabulary, layer.width, positions, 0, dtype}; }
};

struct ImageTowerConfig {
  LayerConfig layer;
  ImageConfig image;
  int64_t projection = 0;
  DType dtype = DType::f32;
};

// Reads what both architectures have; `defaults` has the layers, the vocabulary, the positions and the projection.
TextTowerConfig read_text_tower(ConfigFields& fields, const TextTowerConfig& defaults, const char* activation);
ImageTowerConfig read_image_tower(ConfigFields& fields, const ImageTowerConfig& defaults, const char* activation);
Status check_text_tower(ConfigFields& fields, const TextTowerConfig& config);

// Returns config.json's object `name`, or an empty one: the published library then takes its defaults.
Result<Config> nested_config(const Config& config, const std::string& name);

// The tensors of a tower that is a model of its own.
TensorNames text_tower_tensors(const TextTowerConfig& config);
TensorNames image_tower_tensors(const ImageTowerConfig& config);
// The tensors of a pair, whose modules are named in full.
TensorNames pair_tensors(const TextTowerConfig& config);

// Returns T[B,S,width]: tokens and positions through the layers, under the last norm.
NodeId write_text_tower(ModelFrame& frame, const TextTowerConfig& config, const Module& tower, const TextInputs& in,
                        NodeId mask);
// Returns T[B,tokens,width]: the layers' result for embedded patches.
NodeId write_image_layers(ModelFrame& frame, const ImageTowerConfig& config, const Module& tower, NodeId x);

// Adds the outputs of a pair: both embeddings at length 1, and their products times exp(logit_scale), plus `bias`
// unless that is kNoNode.
void write_similarity(ModelFrame& frame, NodeId text, NodeId image, const Shape& scale, NodeId bias);

}  // namespace rung::huggingface
