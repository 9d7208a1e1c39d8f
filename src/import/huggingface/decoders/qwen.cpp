// Qwen2 and Qwen3: Llama's layers with biases of queries, keys and values, or with norms of queries and keys.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {
namespace {

Result<DecoderConfig> read_qwen(const Config& config, int64_t head_width) {
  ConfigFields fields(config);
  DecoderConfig c = read_decoder_fields(fields, {.head_width = head_width});
  const bool slides = fields.flag("use_sliding_window", false);
  const auto whole = static_cast<size_t>(fields.integer("max_window_layers", {0, 1000}, 28));
  RUNG_CHECK(check_decoder_config(fields, c));
  if (slides) RUNG_CHECK(read_windows(config, c, [&](size_t i) { return i >= whole; }));
  RUNG_TRY(c.rotary, read_rotary(config, {.head_width = c.head_width}));
  return c;
}

}  // namespace

Result<Model> import_qwen2(const ConfigSource& source, Classes classes) {
  RUNG_TRY(DecoderConfig c, read_qwen(source.config, 0));
  c.qkv_bias = true;
  return import_decoder(source, classes, c, {});
}

Result<Model> import_qwen3(const ConfigSource& source, Classes classes) {
  constexpr int64_t kHeadWidth = 128;
  RUNG_TRY(DecoderConfig c, read_qwen(source.config, kHeadWidth));
  RUNG_TRY(c.qkv_bias, source.config.get_bool_or("attention_bias", false));
  c.out_bias = c.qkv_bias;
  c.head_norm = HeadNorm::each_head;
  return import_decoder(source, classes, c, {});
}

}  // namespace rung::huggingface
