// An encoder-decoder model as plain data: the sizes of its two stacks, and the names of their modules.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "import/huggingface/decoders/decoder_config.hpp"
#include "import/huggingface/encoder_decoder/place_table.hpp"
#include "import/huggingface/encoder_decoder/relative_bias.hpp"

namespace rung::huggingface {

struct EncoderDecoderConfig {
  // Both stacks have these sizes; `layers` are the decoder's, and `positions` the most tokens of its text.
  DecoderConfig shared;
  int64_t encoder_layers = 0;
  RelativePositions relative;    // no buckets: positions are rows of tables
  int64_t mels = 0;              // of the features that the encoder hears; 0: it reads a text
  int64_t source_positions = 0;  // the most places of what the encoder reads
  PlaceTable places;             // of texts, which positions are rows of
  bool is_gated = false;         // activation(gate) * up within the MLP
  bool key_bias = false;         // where queries and values have one
  bool norms_sums = false;       // norms stand behind the sums of a layer, not before its parts

  bool hears() const { return mels > 0; }
  int64_t parameters() const {
    const int64_t attention = 4 * shared.width * shared.heads * shared.head_width;
    const int64_t mlp = (is_gated ? 3 : 2) * shared.width * shared.mlp;
    const auto decoder = static_cast<int64_t>(shared.layers.size()) * (2 * attention + mlp);
    return encoder_layers * (attention + mlp) + decoder + 2 * shared.vocabulary * shared.width;
  }
};

// The names of a stack's modules; those of products are within the attention that they belong to. Empty: there is none.
struct StackNames {
  std::string_view layers, norm, embedding_norm;
  std::string_view attention, attention_norm, cross, cross_norm, mlp_norm;
  std::string_view query, key, value, out;
  std::string_view gate, up, activation, down;  // within a layer
  std::string_view relative_bias;               // within the first layer
};

struct EncoderDecoderNames {
  std::string_view prefix;  // of both stacks in a checkpoint with a head
  std::string_view embedding, positions, source_positions, head;
  std::string_view logit_bias;                                      // a tensor [1,V], which a file may lack
  std::string_view first_conv, second_conv;                         // of an encoder that hears
  std::string_view encoder_tensors, decoder_tensors, head_tensors;  // how the tensors of each part begin
  StackNames encoder, decoder;
};

// Returns the names that BART gave to what a stack's layers have, and others after it.
inline StackNames bart_names(std::string_view layers, std::string_view norm) {
  return {.layers = layers,
          .norm = norm,
          .attention = "self_attn",
          .attention_norm = "self_attn_layer_norm",
          .mlp_norm = "final_layer_norm",
          .query = "q_proj",
          .key = "k_proj",
          .value = "v_proj",
          .out = "out_proj",
          .up = "fc1",
          .activation = "activation_fn",
          .down = "fc2"};
}

}  // namespace rung::huggingface
