// Writes every decoder language model in the ops that kernels have: one per norm, rotation and attention.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "import/huggingface/decoders/decoder_config.hpp"
#include "import/huggingface/decoders/token_history.hpp"
#include "import/huggingface/model_frame.hpp"

namespace rung::huggingface {

class DecoderWriter {
 public:
  DecoderWriter(ModelFrame& frame, const DecoderConfig& config, const DecoderNames& names, TokenHistory& history)
      : frame_(frame), w_(frame.builder), c_(config), names_(names), history_(history) {}

  // Returns the hidden states behind the last norm, T[B,S,width], or T[1,width] with a cache.
  NodeId hidden();
  // Returns the scores of the vocabulary, in f32, for the hidden states of some tokens.
  NodeId logits(NodeId hidden);

 private:
  // Chooses and orders rows of a stored weight [rows,in] or bias [rows].
  using Arrange = std::function<NodeId(NodeId rows)>;

  // A product whose module has a weight of this many rows.
  struct Product {
    Module module;
    int64_t rows = 0;
    bool bias = false;
    Arrange arrange = {};  // none: all rows as they stand
  };

  NodeId embedded();
  NodeId layer(size_t index, NodeId x);
  NodeId parallel_layer(size_t index, NodeId x);
  NodeId attention(size_t index, NodeId x);
  NodeId mlp(const Module& layer, NodeId x);
  Projections projections(const Module& m, NodeId x);
  NodeId heads(const Module& norm, NodeId x);
  NodeId rotated(const DecoderLayer& layer, NodeId heads, const std::string& label);
  NodeId rows_by_part(NodeId rows, const std::string& label);
  NodeId rows_in_pairs(NodeId rows, const std::string& label);

  // Returns the norm that the layer has under that name; x if it has none.
  NodeId norm_of(const Module& layer, std::string_view name, NodeId x);
  NodeId norm(const Module& m, NodeId x, const Arrange& arrange = {});
  NodeId own_norms(const Module& m, NodeId heads);
  NodeId sum(NodeId x, NodeId y, const std::string& label);
  NodeId product(const Product& product, NodeId x);
  NodeId columns(NodeId x, int64_t begin, int64_t end, const std::string& label);

  Module layer_module(size_t index) const { return frame_.encoder().child(fmt::format("{}.{}", names_.layers, index)); }

  ModelFrame& frame_;
  ModuleBuilder& w_;
  const DecoderConfig& c_;
  const DecoderNames& names_;
  TokenHistory& history_;
};

}  // namespace rung::huggingface
