// Llama and the decoders that differ from it in a field or two: Mistral's window, SmolLM3's layers without positions.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {
namespace {

Result<DecoderConfig> read_llama(const Config& config, const DecoderFields& names, double base) {
  ConfigFields fields(config);
  DecoderConfig c = read_decoder_fields(fields, names);
  c.qkv_bias = c.out_bias = fields.flag("attention_bias", false);
  c.mlp_bias = fields.flag("mlp_bias", false);
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_TRY(c.rotary, read_rotary(config, {.head_width = c.head_width, .base = base}));
  return c;
}

// A list with a 0 for each layer without positions, or every fourth is one.
Status read_layers_without_positions(const Config& config, DecoderConfig& c) {
  if (!config.contains("no_rope_layers")) {
    RUNG_TRY(int64_t every, config.get_int_or("no_rope_layer_interval", {1, 1000}, 4));
    for (size_t i = 0; i < c.layers.size(); ++i) c.layers[i].rotates = (i + 1) % static_cast<size_t>(every) != 0;
    return {};
  }
  RUNG_TRY(auto list, config.get_ints("no_rope_layers", c.layers.size(), {0, 1}));
  for (size_t i = 0; i < c.layers.size(); ++i) c.layers[i].rotates = list[i] == 1;
  return {};
}

}  // namespace

Result<Model> import_llama(const ConfigSource& source, Classes classes) {
  RUNG_TRY(DecoderConfig c, read_llama(source.config, {}, 10000.0));
  return import_decoder(source, classes, c, {});
}

Result<Model> import_mistral(const ConfigSource& source, Classes classes) {
  RUNG_TRY(DecoderConfig c, read_llama(source.config, {}, 10000.0));
  RUNG_CHECK(read_common_window(source.config, c));
  return import_decoder(source, classes, c, {});
}

Result<Model> import_smollm3(const ConfigSource& source, Classes classes) {
  RUNG_TRY(DecoderConfig c, read_llama(source.config, {.is_tied = true}, 2000000.0));
  RUNG_CHECK(read_layers_without_positions(source.config, c));
  RUNG_TRY(bool slides, source.config.get_bool_or("use_sliding_window", false));
  const auto is_local = [&](size_t i) { return slides && !c.layers[i].rotates; };
  if (slides) RUNG_CHECK(read_windows(source.config, c, is_local));
  return import_decoder(source, classes, c, {});
}

// Granite scales embeddings, residuals, attention and logits by numbers of its own.
Result<Model> import_granite(const ConfigSource& source, Classes classes) {
  RUNG_TRY(DecoderConfig c, read_llama(source.config, {}, 10000.0));
  ConfigFields fields(source.config);
  constexpr double kLeast = 1e-6, kMost = 1e6;
  c.embedding_scale = fields.number("embedding_multiplier", kLeast, kMost, 1);
  c.residual_scale = fields.number("residual_multiplier", kLeast, kMost, 1);
  c.attention_scale = static_cast<float>(fields.number("attention_multiplier", kLeast, kMost, 1));
  c.logit_scale = 1 / fields.number("logits_scaling", kLeast, kMost, 1);
  RUNG_CHECK(fields.status());
  return import_decoder(source, classes, c, {});
}

}  // namespace rung::huggingface
