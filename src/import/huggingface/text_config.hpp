// The config.json of a text encoder and the sentence-transformers files beside it, all within bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/json_config.hpp"
#include "base/status.hpp"
#include "import/huggingface/config_fields.hpp"
#include "import/huggingface/transformer_layer.hpp"

namespace rung::huggingface {

struct TextSizes {
  int64_t vocabulary = 0, width = 0;
  int64_t tokens = 0;    // the most that have a position
  int64_t segments = 0;  // 0: none
  DType dtype = DType::f32;
};

struct TextConfig {
  LayerConfig layer;
  int64_t vocabulary = 0, positions = 0;
  int64_t segments = 0;      // 0: none
  DType dtype = DType::f32;  // of a random checkpoint
  bool is_tied = true;       // a language head's decoder is the embedding table

  // With as many positions as a text can have tokens.
  TextSizes sizes(int64_t tokens) const { return {vocabulary, layer.width, tokens, segments, dtype}; }
};

enum class PoolingMode { cls, max, mean, mean_sqrt_length };

struct SentenceConfig {
  std::vector<PoolingMode> modes;  // concatenated in this order; empty: no sentence embedding
  bool normalize = false;
};

// Reads the fields under the names that BERT gave them.
Result<TextConfig> read_bert_config(const Config& config);
// Does the same for MPNet, which has no segments.
Result<TextConfig> read_mpnet_config(const Config& config);
// Checks that heads divide the width, and the number of parameters.
Status check_text_config(ConfigFields& fields, const TextConfig& config);

// Reads modules.json and the folders that it names; a directory without modules.json has no pooling.
Result<SentenceConfig> read_sentence_config(const std::string& directory, int64_t width);

}  // namespace rung::huggingface
