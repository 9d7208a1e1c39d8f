// T5: an encoder-decoder over texts, whose attentions know distances between tokens, with RMS norms.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/huggingface/encoder_decoder/encoder_decoder_model.hpp"
#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

constexpr IntRange kBuckets{4, 1 << 16};
constexpr IntRange kFarthest{4, 1 << 24};

// "relu", or "gated-gelu" of later versions, whose GELU is the one with tanh.
void read_feed_forward(ConfigFields& fields, EncoderDecoderConfig& c) {
  constexpr std::string_view kGated = "gated-";
  const std::string name = fields.text("feed_forward_proj", "relu");
  c.is_gated = name.starts_with(kGated);
  const std::string activation = c.is_gated ? name.substr(kGated.size()) : name;
  const bool is_later_gelu = c.is_gated && activation == "gelu";
  c.shared.activation = activation_named(fields, "feed_forward_proj", is_later_gelu ? "gelu_new" : activation);
}

EncoderDecoderConfig read_config(ConfigFields& fields) {
  EncoderDecoderConfig c;
  DecoderConfig& shared = c.shared;
  c.encoder_layers = fields.integer("num_layers", kLayerBounds);
  shared.layers.resize(static_cast<size_t>(fields.integer("num_decoder_layers", kLayerBounds, c.encoder_layers)));
  shared.width = fields.integer("d_model", kWidthBounds);
  shared.heads = shared.key_heads = fields.integer("num_heads", kHeadBounds);
  shared.head_width = fields.integer("d_kv", kWidthBounds);
  shared.mlp = fields.integer("d_ff", kMlpBounds);
  shared.vocabulary = fields.integer("vocab_size", kVocabularyBounds);
  shared.positions = c.source_positions = kTokenBounds.max;
  shared.positions_field = "the most tokens of a text";
  shared.eps = static_cast<float>(fields.number("layer_norm_epsilon", 0.0, 1.0, 1e-6));
  shared.is_tied = true;
  shared.dtype = read_dtype(fields);
  const bool scales = fields.flag("scale_decoder_outputs", fields.flag("tie_word_embeddings", true));
  if (scales) shared.logit_scale = 1.0 / std::sqrt(static_cast<double>(shared.width));
  c.relative.buckets = fields.integer("relative_attention_num_buckets", kBuckets, 32);
  c.relative.farthest = fields.integer("relative_attention_max_distance", kFarthest, 128);
  if (c.relative.buckets % 4 != 0)
    fields.mistake("relative_attention_num_buckets {}: wanted a multiple of 4", c.relative.buckets);
  if (c.relative.farthest <= c.relative.buckets / 2)
    fields.mistake("relative_attention_max_distance {} is not above half of relative_attention_num_buckets {}",
                   c.relative.farthest, c.relative.buckets);
  read_feed_forward(fields, c);
  return c;
}

StackNames stack_names(std::string_view layers, std::string_view norm) {
  return {.layers = layers,
          .norm = norm,
          .attention = "layer.0.SelfAttention",
          .attention_norm = "layer.0.layer_norm",
          .query = "q",
          .key = "k",
          .value = "v",
          .out = "o",
          .relative_bias = "layer.0.SelfAttention.relative_attention_bias"};
}

// The MLP is the encoder's second part of a layer, and the decoder's third one.
StackNames encoder_names(bool is_gated) {
  StackNames names = stack_names("encoder.block", "encoder.final_layer_norm");
  names.mlp_norm = "layer.1.layer_norm";
  names.gate = "layer.1.DenseReluDense.wi_0";
  names.up = is_gated ? "layer.1.DenseReluDense.wi_1" : "layer.1.DenseReluDense.wi";
  names.activation = "layer.1.DenseReluDense.act";
  names.down = "layer.1.DenseReluDense.wo";
  return names;
}

StackNames decoder_names(bool is_gated) {
  StackNames names = stack_names("decoder.block", "decoder.final_layer_norm");
  names.cross = "layer.1.EncDecAttention";
  names.cross_norm = "layer.1.layer_norm";
  names.mlp_norm = "layer.2.layer_norm";
  names.gate = "layer.2.DenseReluDense.wi_0";
  names.up = is_gated ? "layer.2.DenseReluDense.wi_1" : "layer.2.DenseReluDense.wi";
  names.activation = "layer.2.DenseReluDense.act";
  names.down = "layer.2.DenseReluDense.wo";
  return names;
}

}  // namespace

Result<Model> import_t5(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  const EncoderDecoderConfig c = read_config(fields);
  RUNG_CHECK(fields.status());
  RUNG_CHECK(check_parameter_count("config.json", c.parameters()));
  const EncoderDecoderNames names{.embedding = "shared",
                                  .head = "lm_head",
                                  .encoder_tensors = "encoder.",
                                  .decoder_tensors = "decoder.",
                                  .head_tensors = "lm_head.",
                                  .encoder = encoder_names(c.is_gated),
                                  .decoder = decoder_names(c.is_gated)};
  return import_encoder_decoder(source, classes, c, names);
}

}  // namespace rung::huggingface
