// The number of tokens of a text that a model reads, in agreement with the published libraries.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"

namespace rung::huggingface {

// Returns max_seq_length of sentence_bert_config.json, else model_max_length of tokenizer_config.json, at most
// `positions`. Errors: one of the fields is no length.
Result<int64_t> text_length(const std::string& directory, int64_t positions);

}  // namespace rung::huggingface
