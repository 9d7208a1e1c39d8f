// Phi 3 and 4: one tensor for queries, keys and values, one for gate and up, and frequencies for long texts.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

namespace rung::huggingface {

Result<Model> import_phi3(const ConfigSource& source, Classes classes) {
  ConfigFields fields(source.config);
  DecoderConfig c = read_decoder_fields(fields, {.usual_eps = 1e-5});
  RUNG_CHECK(check_decoder_config(fields, c));
  RUNG_CHECK(read_common_window(source.config, c));
  RUNG_TRY(c.rotary, read_rotary(source.config, {.head_width = c.head_width, .reads_yarn = false}));
  const DecoderNames kNames{.qkv = "qkv_proj", .gate_up = "gate_up_proj", .activation = "activation_fn"};
  return import_decoder(source, classes, c, kNames);
}

}  // namespace rung::huggingface
