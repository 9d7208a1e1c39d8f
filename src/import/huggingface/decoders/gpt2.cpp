// GPT-2: learned positions, layer norms, and weights that are stored as [in,out].
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {

Result<Model> import_gpt2(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c = read_decoder_fields(fields, {.layers = "n_layer",
                                                 .width = "n_embd",
                                                 .heads = "n_head",
                                                 .mlp = "n_inner",
                                                 .positions = "n_positions",
                                                 .eps = "layer_norm_epsilon",
                                                 .activation = "activation_function",
                                                 .usual_activation = "gelu_new",
                                                 .usual_eps = 1e-5,
                                                 .mlp_factor = 4,
                                                 .is_tied = true});
  c.norm = NormKind::layer;
  c.stores_transposed = true;
  c.qkv_bias = c.out_bias = c.mlp_bias = true;
  if (!fields.flag("scale_attn_weights", true)) c.attention_scale = 1;
  if (fields.flag("scale_attn_by_inverse_layer_idx", false))
    fields.mistake("scale_attn_by_inverse_layer_idx is true, which is not supported");
  refuse_shared_heads(fields, c);
  RUNG_CHECK(check_decoder_config(fields, c));
  const DecoderNames kNames{.prefix = "transformer",
                            .embedding = "wte",
                            .positions = "wpe",
                            .layers = "h",
                            .norm = "ln_f",
                            .attention_norm = "ln_1",
                            .mlp_norm = "ln_2",
                            .attention = "attn",
                            .qkv = "c_attn",
                            .out = "c_proj",
                            .gate = "",
                            .up = "c_fc",
                            .activation = "act",
                            .down = "c_proj"};
  return import_decoder(source, classes, c, kNames);
}

}  // namespace rung::huggingface
