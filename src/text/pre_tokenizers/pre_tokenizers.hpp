// The second part of a tokenizer: a text into words, as the field "pre_tokenizer" says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/json_config.hpp"
#include "text/piece.hpp"

namespace rung::text {

// Reads the pre-tokenizer, or all of a Sequence in their order; none where the field is missing.
Result<std::vector<PreTokenizer>> read_pre_tokenizers(const Config& tokenizer);

// Each reads the pre-tokenizer of its type.
Result<PreTokenizer> read_byte_level(const Config& part);
Result<PreTokenizer> read_metaspace(const Config& part);
Result<PreTokenizer> read_split(const Config& part);
Result<PreTokenizer> read_unicode_scripts(const Config& part);

// Reads a behaviour's word, such as "MergedWithNext".
Result<Behaviour> read_behaviour(const Config& part, const char* field);

}  // namespace rung::text
