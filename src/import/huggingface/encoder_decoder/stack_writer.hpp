// Writes the layers of an encoder or a decoder: attention, over the source too in a decoder, and an MLP.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "import/huggingface/decoders/token_history.hpp"
#include "import/huggingface/encoder_decoder/encoder_decoder_config.hpp"
#include "import/huggingface/model_frame.hpp"

namespace rung::huggingface {

// Keys and values of the source for one layer's cross attention, T[B,E,H,D].
struct SourceHeads {
  NodeId k = kNoNode, v = kNoNode;
};

class StackWriter {
 public:
  // Both return T[B,S,H,D] for queries T[B,S,H,D].
  using Attend = std::function<NodeId(size_t layer, const Projections& heads, const std::string& label)>;
  using Cross = std::function<NodeId(size_t layer, NodeId queries, const std::string& label)>;

  StackWriter(ModelFrame& frame, const EncoderDecoderConfig& config, const StackNames& names)
      : w_(frame.builder), root_(frame.encoder()), all_(config), c_(config.shared), names_(names) {}

  // Returns x T[B,S,width] behind a layer. `cross`: of a decoder.
  NodeId layer(size_t index, NodeId x, const Attend& attend, const Cross& cross = {}) const;
  // Returns keys and values of the source T[B,E,width] behind the encoder, for that layer of a decoder.
  SourceHeads source_heads(size_t index, NodeId source) const;
  // Return x behind the norm that begins or ends the stack, if it has one.
  NodeId first_norm(NodeId x) const { return norm_named(names_.embedding_norm, x); }
  NodeId last_norm(NodeId x) const { return norm_named(names_.norm, x); }
  Module first_layer() const { return layer_module(0); }

 private:
  Module layer_module(size_t index) const { return root_.child(fmt::format("{}.{}", names_.layers, index)); }
  NodeId self_attention(size_t index, NodeId x, const Attend& attend) const;
  NodeId cross_attention(size_t index, NodeId x, const Cross& cross) const;
  NodeId mlp(const Module& layer, NodeId x) const;
  NodeId norm(const Module& m, NodeId x) const;
  NodeId norm_named(std::string_view name, NodeId x) const { return name.empty() ? x : norm(root_.child(name), x); }
  NodeId heads(const Module& m, NodeId x, bool bias) const;
  NodeId merged(const Module& attention, NodeId heads) const;
  NodeId sum(NodeId x, NodeId y, const Module& m) const { return w_.binary(BinaryKind::add, x, y, m.label); }

  ModuleBuilder& w_;
  Module root_;
  const EncoderDecoderConfig& all_;
  const DecoderConfig& c_;
  const StackNames& names_;
};

}  // namespace rung::huggingface
