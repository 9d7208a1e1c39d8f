// From token vectors to one sentence vector, as sentence-transformers' Pooling and Normalize do it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/bert_config.hpp"
#include "import/huggingface/graph_writer.hpp"

namespace rung::huggingface {

struct Tokens {
  NodeId hidden;  // T[B,S,D]
  NodeId mask;    // i64[B,S]
};

NodeId pool_sentence(GraphWriter& writer, const SentenceConfig& config, const Tokens& tokens);

}  // namespace rung::huggingface
