// Writes the part of a Pi0 policy before its actions: cameras by SigLIP and the prompt, which see each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "import/huggingface/pi0_layers.hpp"
#include "import/huggingface/pi0_tensors.hpp"

namespace rung::huggingface {

struct Pi0PrefixInputs {
  NodeId images, image_mask, tokens, token_mask;
};
Pi0PrefixInputs declare_prefix_inputs(Model& model, const Pi0Config& config);

class Pi0Prefix {
 public:
  Pi0Prefix(ModuleBuilder& writer, const Pi0Config& config, const Pi0Tensors& tensors, std::optional<DType> forced);

  DType dtype() const { return dtype_; }  // of the language model
  // Returns bool[1,L]: the cameras' patches, then the prompt.
  NodeId valid(const Pi0PrefixInputs& in);
  // T[1,L,width]
  NodeId embedded(const Pi0PrefixInputs& in);
  // Returns T[1,N,width] of N tokens.
  NodeId embed_prompt(NodeId tokens);
  // Returns each layer's keys and values of the prefix x T[1,L,width].
  std::vector<KeyValue> write(NodeId x, NodeId valid);

  // Returns f32[1,1,S,K] from bool[1,S,K].
  NodeId additive_mask(NodeId visible, const std::string& label);
  // Returns the tables of positions i64[1,S].
  Rotary rotary(NodeId positions, const std::string& label);

 private:
  NodeId embed_images(NodeId images);
  GemmaPass pass(NodeId valid);

  ModuleBuilder& w_;
  const Pi0Config& c_;
  const Pi0Tensors& t_;
  std::optional<DType> forced_;
  DType dtype_, vision_dtype_;  // of both Gemmas; of the tower and its projector
};

}  // namespace rung::huggingface
