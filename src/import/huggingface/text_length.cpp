// Reads the two files that state the length.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/text_length.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/json_config.hpp"

namespace rung::huggingface {
namespace {

// Reads a length; some files give a huge number for "no limit".
Result<std::optional<int64_t>> length_in(const std::string& directory, const char* name, const char* field) {
  const auto path = std::filesystem::path(directory) / name;
  std::error_code ignored;
  if (directory.empty() || !std::filesystem::exists(path, ignored)) return std::nullopt;
  RUNG_TRY(Config config, Config::read(path.string()));
  if (!config.contains(field)) return std::nullopt;
  RUNG_TRY(double length, config.get_number(field, 1, 1e40));
  return static_cast<int64_t>(std::min(length, 1e9));
}

}  // namespace

Result<int64_t> text_length(const std::string& directory, int64_t positions) {
  RUNG_TRY(auto sentence, length_in(directory, "sentence_bert_config.json", "max_seq_length"));
  RUNG_TRY(auto tokenizer, length_in(directory, "tokenizer_config.json", "model_max_length"));
  return std::min(positions, sentence.value_or(tokenizer.value_or(positions)));
}

}  // namespace rung::huggingface
