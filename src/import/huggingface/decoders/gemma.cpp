// Gemma 2 and 3: norms before and behind attention and MLP, scaled embeddings, and layers that slide a window.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {
namespace {

constexpr int64_t kGemmaHeadWidth = 256;
constexpr DecoderNames kGemmaNames{.after_attention = "post_attention_layernorm",
                                   .mlp_norm = "pre_feedforward_layernorm",
                                   .after_mlp = "post_feedforward_layernorm"};

struct GemmaCaps {
  double attention, logits;  // if the config has none; 0: no cap
};

DecoderConfig read_gemma(ConfigFields& fields, const GemmaCaps& usual) {
  DecoderConfig c = read_decoder_fields(fields, {.activation = "hidden_activation",
                                                 .usual_activation = "gelu_pytorch_tanh",
                                                 .head_width = kGemmaHeadWidth,
                                                 .is_tied = true});
  constexpr double kMost = 1e6;
  c.norm = NormKind::rms_offset;
  c.embedding_scale = std::sqrt(static_cast<double>(c.width));
  c.rounds_embedding_scale = true;
  c.qkv_bias = c.out_bias = fields.flag("attention_bias", false);
  const double scalar = fields.number("query_pre_attn_scalar", 1e-6, kMost, static_cast<double>(kGemmaHeadWidth));
  c.attention_scale = static_cast<float>(1 / std::sqrt(scalar));
  c.attention_cap = static_cast<float>(fields.cap("attn_logit_softcapping", usual.attention));
  c.logit_cap = fields.cap("final_logit_softcapping", usual.logits);
  return c;
}

}  // namespace

Result<Model> import_gemma2(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c = read_gemma(fields, {.attention = 50, .logits = 30});
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_CHECK(read_windows(source.config, c, [](size_t i) { return i % 2 == 0; }));
  RUNG_TRY(c.rotary, read_rotary(source.config, {.head_width = c.head_width}));
  return import_decoder(source, classes, c, kGemmaNames);
}

Result<Model> import_gemma3_text(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c = read_gemma(fields, {.attention = 0, .logits = 0});
  const auto every = static_cast<size_t>(fields.integer("sliding_window_pattern", {1, 1000}, 6));
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_CHECK(read_windows(source.config, c, [&](size_t i) { return (i + 1) % every != 0; }));
  for (DecoderLayer& layer : c.layers) layer.is_local = layer.window > 0;
  c.head_norm = HeadNorm::each_head;
  const RotaryRequest whole{.head_width = c.head_width, .base = 1000000.0, .layer_type = "full_attention"};
  const RotaryRequest local{.head_width = c.head_width,
                            .base_field = "rope_local_base_freq",
                            .layer_type = "sliding_attention",
                            .is_scaled = false};
  RUNG_TRY(c.rotary, read_rotary(source.config, whole));
  RUNG_TRY(c.local_rotary, read_rotary(source.config, local));
  return import_decoder(source, classes, c, kGemmaNames);
}

}  // namespace rung::huggingface
