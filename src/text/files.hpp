// The files of a tokenizer, and its description as tokenizer.json has it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/json_config.hpp"

namespace rung {

using TextFiles = std::map<std::string, std::string>;  // contents by name

// Returns the files of a model directory that say how texts and chats become tokens and how to sample
// them, by name; none if there are none.
// Errors: a file that is not UTF-8: a plan holds the files as JSON, which has no place for other bytes.
Result<TextFiles> tokenizer_texts(const std::string& directory);

}  // namespace rung

namespace rung::text {

inline constexpr const char* kTokenizerConfig = "tokenizer_config.json";
inline constexpr const char* kSentenceConfig = "sentence_bert_config.json";
inline constexpr const char* kTokenizerJson = "tokenizer.json";
inline constexpr const char* kVocabTxt = "vocab.txt";
inline constexpr const char* kVocabJson = "vocab.json";
inline constexpr const char* kMergesTxt = "merges.txt";
inline constexpr const char* kChatTemplate = "chat_template.jinja";
inline constexpr const char* kChatTemplateJson = "chat_template.json";
inline constexpr const char* kGenerationConfig = "generation_config.json";
inline constexpr std::string_view kChatTemplates = "chat_templates/";  // the folder of further templates

// Returns tokenizer.json, or what it would be for the older files: vocab.txt for BERT's class, vocab.json with
// merges.txt for GPT-2's and RoBERTa's. Errors: none of these files; another class; no special token of its class.
Result<Config> read_description(const TextFiles& texts);

}  // namespace rung::text
