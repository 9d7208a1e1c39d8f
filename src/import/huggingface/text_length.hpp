// How many tokens of a text a model reads, as the published libraries have it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"

namespace rung::huggingface {

// sentence_bert_config.json's max_seq_length, or else tokenizer_config.json's model_max_length, at most `positions`.
// Errors: a field of one of the two that is no length.
Result<int64_t> text_length(const std::string& directory, int64_t positions);

}  // namespace rung::huggingface
