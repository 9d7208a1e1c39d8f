// A ModernBERT config.json, with all that it says beyond other text encoders.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "import/huggingface/text_config.hpp"

namespace rung::huggingface {

struct ModernBertConfig : TextConfig {
  std::vector<bool> is_local;                           // of each layer: whether a token reads only its neighbours
  int64_t window = 64;                                  // the farthest neighbours
  double global_base = 160000.0, local_base = 10000.0;  // of rotary positions
  bool norm_bias = false, mlp_bias = false;             // layer.qkv_bias: also of the attention's output
  bool decoder_bias = true, head_bias = false;
  bool pools_mean = false;  // a classifier's input is the mean of the tokens, not the first one
  Activation head_activation{};
};

Result<ModernBertConfig> read_modernbert_config(const Config& config);

}  // namespace rung::huggingface
