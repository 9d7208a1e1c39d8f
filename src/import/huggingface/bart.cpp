// BART and what was made like it: mBART, Marian, Pegasus, and M2M100, whose layers NLLB has. Encoder-decoders over
// texts, which differ in their tables of places and in where their norms stand.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/huggingface/encoder_decoder/encoder_decoder_model.hpp"
#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

constexpr IntRange kPlaces{1, kTokenBounds.max};

struct Family {
  Waves waves = Waves::none;
  int64_t first_row = 0;
  bool norms_sums = false;       // and then nothing stands behind the last layer
  bool norms_embedding = false;  // before the first layer
  const char* usual_activation = "gelu";
  bool scales_embedding = false;  // if the config does not say
};

EncoderDecoderConfig read_config(ConfigFields& fields, const Family& family) {
  EncoderDecoderConfig c;
  DecoderConfig& shared = c.shared;
  c.encoder_layers = fields.integer("encoder_layers", kLayerBounds, 12);
  shared.layers.resize(static_cast<size_t>(fields.integer("decoder_layers", kLayerBounds, 12)));
  shared.width = fields.integer("d_model", kWidthBounds, 1024);
  shared.heads = shared.key_heads = fields.integer("decoder_attention_heads", kHeadBounds, 16);
  shared.head_width = shared.width / shared.heads;
  shared.mlp = fields.integer("decoder_ffn_dim", kMlpBounds, 4096);
  shared.vocabulary = fields.integer("vocab_size", kVocabularyBounds);
  shared.positions = c.source_positions = fields.integer("max_position_embeddings", kPlaces, 1024);
  shared.norm = NormKind::layer;
  shared.eps = 1e-5f;
  shared.activation = read_activation(fields, "activation_function", family.usual_activation);
  shared.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(shared.head_width)));
  shared.qkv_bias = shared.out_bias = shared.mlp_bias = c.key_bias = true;
  shared.is_tied = fields.flag("tie_word_embeddings", true);
  shared.dtype = read_dtype(fields);
  if (fields.flag("scale_embedding", family.scales_embedding))
    shared.embedding_scale = std::sqrt(static_cast<double>(shared.width));
  c.places = {family.waves, family.first_row};
  c.norms_sums = family.norms_sums;
  return c;
}

Status check(ConfigFields& fields, const EncoderDecoderConfig& c) {
  const DecoderConfig& shared = c.shared;
  const auto same = [&](const char* name, int64_t wanted, IntRange range) {
    if (const int64_t got = fields.integer(name, range, wanted); got != wanted)
      fields.mistake("{} {} is not supported: wanted {}, the decoder's", name, got, wanted);
  };
  same("encoder_attention_heads", shared.heads, kHeadBounds);
  same("encoder_ffn_dim", shared.mlp, kMlpBounds);
  if (shared.width % shared.heads != 0)
    fields.mistake("d_model {} is not a multiple of decoder_attention_heads {}", shared.width, shared.heads);
  if (c.places.waves != Waves::none && (shared.width % 2 != 0 || shared.width < 4))
    fields.mistake("d_model {}: wanted an even number from 4 on, for sines and cosines of places", shared.width);
  if (!fields.flag("share_encoder_decoder_embeddings", true))
    fields.mistake("share_encoder_decoder_embeddings is false, which is not supported");
  RUNG_CHECK(fields.status());
  RUNG_CHECK(check_made("a table of places", shared.positions, shared.width));
  return check_parameter_count("config.json", c.parameters());
}

StackNames stack_names(const Family& family, bool is_decoder) {
  StackNames names = bart_names(is_decoder ? "decoder.layers" : "encoder.layers", family.norms_sums ? ""
                                                                                  : is_decoder ? "decoder.layer_norm"
                                                                                               : "encoder.layer_norm");
  if (family.norms_embedding)
    names.embedding_norm = is_decoder ? "decoder.layernorm_embedding" : "encoder.layernorm_embedding";
  if (is_decoder) names.cross = "encoder_attn", names.cross_norm = "encoder_attn_layer_norm";
  return names;
}

Result<Model> import_family(const ConfigSource& source, Classes classes, const Family& family) {
  ConfigFields fields(source.config);
  const EncoderDecoderConfig c = read_config(fields, family);
  RUNG_CHECK(check(fields, c));
  const EncoderDecoderNames names{.prefix = "model",
                                  .embedding = "shared",
                                  .positions = "decoder.embed_positions",
                                  .source_positions = "encoder.embed_positions",
                                  .head = "lm_head",
                                  .logit_bias = "final_logits_bias",
                                  .encoder_tensors = "encoder.",
                                  .decoder_tensors = "decoder.",
                                  .head_tensors = "lm_head.",
                                  .encoder = stack_names(family, false),
                                  .decoder = stack_names(family, true)};
  return import_encoder_decoder(source, classes, c, names);
}

constexpr int64_t kOffset = 2;  // of the row of the first place

}  // namespace

Result<Model> import_bart(const ConfigSource& source, Classes classes) {
  return import_family(source, classes, {.first_row = kOffset, .norms_sums = true, .norms_embedding = true});
}

Result<Model> import_mbart(const ConfigSource& source, Classes classes) {
  return import_family(source, classes, {.first_row = kOffset, .norms_embedding = true});
}

Result<Model> import_marian(const ConfigSource& source, Classes classes) {
  return import_family(source, classes, {.waves = Waves::below_end, .norms_sums = true});
}

Result<Model> import_pegasus(const ConfigSource& source, Classes classes) {
  return import_family(source, classes, {.waves = Waves::below_end});
}

// The row of the token that pads is that of no place, and places begin behind it.
Result<Model> import_m2m100(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  const int64_t pad = fields.integer("pad_token_id", {0, kVocabularyBounds.max}, 1);
  RUNG_CHECK(fields.status());
  return import_family(
      source, classes,
      {.waves = Waves::to_the_end, .first_row = pad + 1, .usual_activation = "relu", .scales_embedding = true});
}

}  // namespace rung::huggingface
