// StableLM: Llama's layers with layer norms, of which a part of each head rotates.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {

Result<Model> import_stablelm(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c = read_decoder_fields(fields, {.eps = "layer_norm_eps", .usual_eps = 1e-5});
  c.norm = NormKind::layer;
  c.qkv_bias = fields.flag("use_qkv_bias", false);
  c.is_parallel = fields.flag("use_parallel_residual", false);
  if (fields.flag("qk_layernorm", false)) c.head_norm = HeadNorm::own;
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_TRY(c.rotary, read_rotary(source.config, {.head_width = c.head_width, .part = 0.25}));
  DecoderNames names{.query_norm = "q_layernorm", .key_norm = "k_layernorm"};
  if (c.is_parallel) names.mlp_norm = "";
  return import_decoder(source, classes, c, names);
}

}  // namespace rung::huggingface
