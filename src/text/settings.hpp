// The settings beside a tokenizer's description: tokenizer_config.json and sentence_bert_config.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>

#include "base/json_config.hpp"
#include "text/added_tokens.hpp"
#include "text/files.hpp"

namespace rung::text {

struct Settings {
  std::string tokenizer_class;               // "RobertaTokenizer"; empty where the file names none
  std::map<std::string, std::string> names;  // special tokens by field: "pad_token" -> "[PAD]"
  std::vector<AddedToken> added;             // listed there by id
  std::optional<int64_t> model_max_length;
  std::optional<bool> cuts_left, pads_left;
  bool cleans_up = false;         // decoded texts lose the blanks before English marks
  bool lowers_sentences = false;  // sentence-transformers makes texts lower case before the tokenizer sees them
};

// Reads both files, of which either may be missing.
Result<Settings> read_settings(const TextFiles& texts);

}  // namespace rung::text
