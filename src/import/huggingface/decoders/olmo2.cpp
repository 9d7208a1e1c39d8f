// OLMo 2: norms behind attention and MLP, and norms of all queries and of all keys of a token.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {

Result<Model> import_olmo2(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c = read_decoder_fields(fields, {.usual_eps = 1e-5});
  c.qkv_bias = c.out_bias = fields.flag("attention_bias", false);
  c.head_norm = HeadNorm::all_heads;
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_TRY(c.rotary, read_rotary(source.config, {.head_width = c.head_width}));
  const DecoderNames kNames{.attention_norm = "",
                            .after_attention = "post_attention_layernorm",
                            .mlp_norm = "",
                            .after_mlp = "post_feedforward_layernorm"};
  return import_decoder(source, classes, c, kNames);
}

}  // namespace rung::huggingface
