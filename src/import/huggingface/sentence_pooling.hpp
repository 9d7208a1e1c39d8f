// Pools token vectors to one sentence vector, as sentence-transformers' Pooling and Normalize do.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/module_builder.hpp"
#include "import/huggingface/text_config.hpp"

namespace rung::huggingface {

struct Tokens {
  NodeId hidden;  // T[B,S,D]
  NodeId mask;    // i64[B,S]
};

NodeId pool_sentence(ModuleBuilder& writer, const SentenceConfig& config, const Tokens& tokens);

}  // namespace rung::huggingface
