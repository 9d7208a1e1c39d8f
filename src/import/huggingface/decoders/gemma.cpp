// Gemma 2 and 3: norms before and behind attention and MLP, scaled embeddings, and layers that slide a window.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {
namespace {

constexpr int64_t kGemmaHeadWidth = 256;

DecoderNames gemma_names() {
  return {.after_attention = "post_attention_layernorm",
          .mlp_norm = "pre_feedforward_layernorm",
          .after_mlp = "post_feedforward_layernorm"};
}

// The fields of one generation if its config leaves them out.
struct GemmaDefaults {
  int64_t vocabulary, positions;
  double attention_cap, logit_cap;  // 0: no cap
};
constexpr GemmaDefaults kGemma2Defaults{256000, 8192, 50, 30};
constexpr GemmaDefaults kGemma3Defaults{262208, 131072, 0, 0};

DecoderConfig read_gemma(ConfigFields& fields, const GemmaDefaults& usual) {
  // The config of Gemma 3 with images leaves out what has these values.
  DecoderConfig c = read_decoder_fields(fields, {.activation = "hidden_activation",
                                                 .usual_activation = "gelu_pytorch_tanh",
                                                 .head_width = kGemmaHeadWidth,
                                                 .is_tied = true,
                                                 .usual_heads = 8,
                                                 .usual_key_heads = 4,
                                                 .usual_vocabulary = usual.vocabulary,
                                                 .usual_positions = usual.positions});
  constexpr double kMost = 1e6;
  c.norm = NormKind::rms_offset;
  c.embedding_scale = std::sqrt(static_cast<double>(c.width));
  c.rounds_embedding_scale = true;
  c.qkv_bias = c.out_bias = fields.flag("attention_bias", false);
  const double scalar = fields.number("query_pre_attn_scalar", 1e-6, kMost, static_cast<double>(kGemmaHeadWidth));
  c.attention_scale = static_cast<float>(1 / std::sqrt(scalar));
  c.attention_cap = static_cast<float>(fields.cap("attn_logit_softcapping", usual.attention_cap));
  c.logit_cap = fields.cap("final_logit_softcapping", usual.logit_cap);
  return c;
}

Result<DecoderConfig> read_gemma3(const Config& config) {
  ConfigFields fields(config);
  DecoderConfig c = read_gemma(fields, kGemma3Defaults);
  const auto every = static_cast<size_t>(fields.integer("sliding_window_pattern", {1, 1000}, 6));
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_CHECK(read_windows(config, c, [&](size_t i) { return (i + 1) % every != 0; }));
  for (DecoderLayer& layer : c.layers) layer.is_local = layer.window > 0;
  c.head_norm = HeadNorm::each_head;
  const RotaryRequest whole{.head_width = c.head_width, .base = 1000000.0, .layer_type = "full_attention"};
  const RotaryRequest local{.head_width = c.head_width,
                            .base_field = "rope_local_base_freq",
                            .layer_type = "sliding_attention",
                            .is_scaled = false};
  RUNG_TRY(c.rotary, read_rotary(config, whole));
  RUNG_TRY(c.local_rotary, read_rotary(config, local));
  if (c.local_rotary.columns() != c.rotary.columns())
    return fail("'{}': {} columns of a head rotate in full attention and {} in sliding attention, wanted one number",
                config.what(), c.rotary.columns(), c.local_rotary.columns());
  return c;
}

}  // namespace

Result<Model> import_gemma2(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c = read_gemma(fields, kGemma2Defaults);
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_CHECK(read_windows(source.config, c, [](size_t i) { return i % 2 == 0; }));
  RUNG_TRY(c.rotary, read_rotary(source.config, {.head_width = c.head_width}));
  return import_decoder(source, classes, c, gemma_names());
}

Result<Model> import_gemma3_text(const ConfigSource& source, Classes classes) {
  RUNG_TRY(DecoderConfig c, read_gemma3(source.config));
  return import_decoder(source, classes, c, gemma_names());
}

// Gemma 3 with images: its decoder alone, which reads text.
Result<Model> import_gemma3(const ConfigSource& source, Classes classes) {
  RUNG_TRY(Config text, source.config.get_object("text_config"));
  RUNG_TRY(DecoderConfig c, read_gemma3(text));
  ConfigFields fields(source.config);
  c.dtype = read_dtype(fields);
  RUNG_CHECK(fields.status());
  DecoderNames names = gemma_names();
  names.prefix = "language_model.model";
  names.head = "language_model.lm_head";
  names.others = {"vision_tower.", "multi_modal_projector."};
  return import_decoder(source, classes, c, names);
}

}  // namespace rung::huggingface
