// GPT-NeoX and Pythia: queries, keys and values in one tensor head by head, and part of each head rotates.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {

Result<Model> import_gpt_neox(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c =
      read_decoder_fields(fields, {.eps = "layer_norm_eps", .usual_activation = "gelu", .usual_eps = 1e-5});
  c.norm = NormKind::layer;
  c.fused_rows = FusedRows::by_head;
  c.is_parallel = fields.flag("use_parallel_residual", true);
  c.qkv_bias = c.out_bias = fields.flag("attention_bias", true);
  c.mlp_bias = true;
  refuse_shared_heads(fields, c);
  RUNG_CHECK(check_decoder_config(fields, c));
  const RotaryRequest request{.head_width = c.head_width,
                              .part = 0.25,
                              .base_field = source.config.contains("rope_theta") ? "rope_theta" : "rotary_emb_base",
                              .part_field = "rotary_pct"};
  RUNG_TRY(c.rotary, read_rotary(source.config, request));
  const DecoderNames kNames{.prefix = "gpt_neox",
                            .embedding = "embed_in",
                            .norm = "final_layer_norm",
                            .head = "embed_out",
                            .attention = "attention",
                            .qkv = "query_key_value",
                            .out = "dense",
                            .gate = "",
                            .up = "dense_h_to_4h",
                            .activation = "act",
                            .down = "dense_4h_to_h"};
  return import_decoder(source, classes, c, kNames);
}

}  // namespace rung::huggingface
