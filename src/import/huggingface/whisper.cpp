// Whisper: an encoder that hears mel spectra behind two convolutions, and a decoder that writes their text.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/huggingface/encoder_decoder/encoder_decoder_model.hpp"
#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

constexpr IntRange kPlaces{1, 1 << 16};

EncoderDecoderConfig read_config(ConfigFields& fields) {
  EncoderDecoderConfig c;
  DecoderConfig& shared = c.shared;
  c.encoder_layers = fields.integer("encoder_layers", kLayerBounds);
  c.mels = fields.integer("num_mel_bins", kWidthBounds, 80);
  c.source_positions = fields.integer("max_source_positions", kPlaces, 1500);
  shared.layers.resize(static_cast<size_t>(fields.integer("decoder_layers", kLayerBounds)));
  shared.width = fields.integer("d_model", kWidthBounds);
  shared.heads = shared.key_heads = fields.integer("decoder_attention_heads", kHeadBounds);
  shared.head_width = shared.width / shared.heads;
  shared.mlp = fields.integer("decoder_ffn_dim", kMlpBounds);
  shared.vocabulary = fields.integer("vocab_size", kVocabularyBounds);
  shared.positions = fields.integer("max_target_positions", kPlaces, 448);
  shared.positions_field = "max_target_positions";
  shared.norm = NormKind::layer;
  shared.eps = 1e-5f;
  shared.activation = read_activation(fields, "activation_function", "gelu");
  shared.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(shared.head_width)));
  shared.qkv_bias = shared.out_bias = shared.mlp_bias = true;
  shared.is_tied = true;
  shared.dtype = read_dtype(fields);
  return c;
}

Status check(ConfigFields& fields, const EncoderDecoderConfig& c) {
  const auto same = [&](const char* encoder, int64_t wanted, IntRange range) {
    if (const int64_t got = fields.integer(encoder, range, wanted); got != wanted)
      fields.mistake("{} {} is not supported: wanted {}, the decoder's", encoder, got, wanted);
  };
  same("encoder_attention_heads", c.shared.heads, kHeadBounds);
  same("encoder_ffn_dim", c.shared.mlp, kMlpBounds);
  if (c.shared.width % c.shared.heads != 0)
    fields.mistake("d_model {} is not a multiple of decoder_attention_heads {}", c.shared.width, c.shared.heads);
  if (fields.flag("scale_embedding", false)) fields.mistake("scale_embedding is true, which is not supported");
  RUNG_CHECK(fields.status());
  return check_parameter_count("config.json", c.parameters());
}

}  // namespace

Result<Model> import_whisper(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  const EncoderDecoderConfig c = read_config(fields);
  RUNG_CHECK(check(fields, c));
  EncoderDecoderNames names{.embedding = "model.decoder.embed_tokens",
                            .positions = "model.decoder.embed_positions",
                            .source_positions = "model.encoder.embed_positions",
                            .head = "proj_out",
                            .first_conv = "model.encoder.conv1",
                            .second_conv = "model.encoder.conv2",
                            .encoder_tensors = "model.encoder.",
                            .decoder_tensors = "model.decoder.",
                            .head_tensors = "proj_out.",
                            .encoder = bart_names("model.encoder.layers", "model.encoder.layer_norm"),
                            .decoder = bart_names("model.decoder.layers", "model.decoder.layer_norm")};
  names.decoder.cross = "encoder_attn";
  names.decoder.cross_norm = "encoder_attn_layer_norm";
  return import_encoder_decoder(source, classes, c, names);
}

}  // namespace rung::huggingface
