// Reads a config.json of Pi0 or Pi0.5 in any of its three dialects: the exporter's own, openpi's and LeRobot's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/json_config.hpp"
#include "base/status.hpp"
#include "import/model.hpp"

namespace rung::huggingface {

struct SiglipConfig {
  int64_t layers = 27, width = 1152, mlp = 4304, heads = 16;
};

struct GemmaConfig {
  int64_t layers = 18, width = 2048, mlp = 16384, heads = 8, kv_heads = 1, head_dim = 256;
};

struct Pi0Config {
  // Pi0.5: the prompt tells of the state, no token does, and the time conditions the expert's norms.
  bool adaptive = false;
  // Pi0-FAST: the language model writes the actions, and there is no expert.
  bool fast = false;
  int64_t views = 3, prompt = 48, horizon = 50, steps = 10;
  int64_t state_dim = 32, action_dim = 32;
  int64_t image = 224, patch = 14, vocabulary = 257152;
  double min_period = 4e-3, max_period = 4.0;
  SiglipConfig vision;
  GemmaConfig prefix;
  GemmaConfig expert{.width = 1024, .mlp = 4096};
  DType dtype = DType::bf16;  // of a random checkpoint

  int64_t patches() const { return (image / patch) * (image / patch); }
  int64_t prefix_tokens() const { return views * patches() + prompt; }
};

// Reads a config with the shapes asked for (cameras, prompt length, action horizon) in place of the config's. All
// values are within bounds.
Result<Pi0Config> read_pi0_config(const Config& config, const ImportOptions& options);

}  // namespace rung::huggingface
