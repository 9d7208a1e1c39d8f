// A BERT config.json and the sentence-transformers files beside it, all within bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/json_config.hpp"
#include "base/status.hpp"
#include "ir/op.hpp"

namespace rung::huggingface {

struct BertConfig {
  int64_t layers = 0, width = 0, heads = 0, mlp = 0;
  int64_t vocabulary = 0, positions = 0, segments = 0;
  float eps = 1e-12f;
  UnaryKind activation = UnaryKind::gelu;
  DType dtype = DType::f32;  // of a random checkpoint
};

enum class PoolingMode { cls, max, mean, mean_sqrt_length };

struct SentenceConfig {
  std::vector<PoolingMode> modes;  // concatenated in this order; empty: no sentence embedding
  bool normalize = false;
};

Result<BertConfig> read_bert_config(const Config& config);
// Reads modules.json and the folders that it names; a directory without modules.json has no pooling.
Result<SentenceConfig> read_sentence_config(const std::string& directory, int64_t width);

}  // namespace rung::huggingface
