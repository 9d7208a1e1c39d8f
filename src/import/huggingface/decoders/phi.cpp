// Phi: attention and an MLP side by side behind one norm, part of each head rotates, and the language head has a bias.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {

Result<Model> import_phi(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c =
      read_decoder_fields(fields, {.eps = "layer_norm_eps", .usual_activation = "gelu_new", .usual_eps = 1e-5});
  c.norm = NormKind::layer;
  c.is_parallel = true;
  c.qkv_bias = c.out_bias = c.mlp_bias = c.decoder_bias = true;
  if (fields.flag("qk_layernorm", false)) c.head_norm = HeadNorm::each_head;
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_TRY(c.rotary, read_rotary(source.config, {.head_width = c.head_width, .part = 0.5}));
  const DecoderNames kNames{.norm = "final_layernorm",
                            .mlp_norm = "",
                            .out = "dense",
                            .query_norm = "q_layernorm",
                            .key_norm = "k_layernorm",
                            .gate = "",
                            .up = "fc1",
                            .activation = "activation_fn",
                            .down = "fc2"};
  return import_decoder(source, classes, c, kNames);
}

}  // namespace rung::huggingface
