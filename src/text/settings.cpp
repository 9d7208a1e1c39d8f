// Reads the two files.
// SPDX-License-Identifier: Apache-2.0
#include "text/settings.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace rung::text {
namespace {

constexpr const char* kNames[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                  "pad_token", "cls_token", "mask_token"};

Result<Config> config_of(const TextFiles& texts, const char* file) {
  const auto text = texts.find(file);
  return Config::parse(text == texts.end() ? "{}" : text->second, file);
}

// Reads a name of a special token: a string, or an object with its content.
Status read_name(const Config& config, const char* field, Settings& settings) {
  if (!config.contains(field)) return {};
  if (config.json().at(field).is_object()) {
    RUNG_TRY(const Config token, config.get_object(field));
    RUNG_TRY(settings.names[field], token.get_text("content"));
    return {};
  }
  RUNG_TRY(settings.names[field], config.get_text(field));
  return {};
}

Status read_added_tokens_decoder(const Config& config, Settings& settings) {
  if (!config.contains("added_tokens_decoder")) return {};
  RUNG_TRY(const Config decoder, config.get_object("added_tokens_decoder"));
  for (const auto& entry : decoder.json().items()) {
    const std::string& key = entry.key();
    int64_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || id < 0 || id > kTokenIds.max)
      return bad_file("'{}': got '{}', wanted a token's id from 0 to {}", decoder.what(), key.substr(0, 60),
                      kTokenIds.max);
    RUNG_TRY(const Config token, decoder.get_object(key));
    RUNG_TRY(AddedToken added, read_added_token(token, id));
    settings.added.push_back(std::move(added));
  }
  return {};
}

// Reads whether a side is the left one.
Status read_side(const Config& config, const char* field, std::optional<bool>& is_left) {
  if (!config.contains(field)) return {};
  RUNG_TRY(const std::string side, config.get_word(field, {"left", "right"}));
  is_left = side == "left";
  return {};
}

}  // namespace

Result<Settings> read_settings(const TextFiles& texts) {
  Settings settings;
  RUNG_TRY(const Config config, config_of(texts, kTokenizerConfig));
  RUNG_TRY(settings.tokenizer_class, config.get_text_or("tokenizer_class", ""));
  // Some files give a huge number for "no limit".
  RUNG_TRY(const double length, config.get_number_or("model_max_length", 1, 1e40, 1e40));
  if (length <= 1e9) settings.model_max_length = static_cast<int64_t>(length);
  for (const char* name : kNames) RUNG_CHECK(read_name(config, name, settings));
  RUNG_CHECK(read_added_tokens_decoder(config, settings));
  RUNG_CHECK(read_side(config, "truncation_side", settings.cuts_left));
  RUNG_TRY(settings.cleans_up, config.get_bool_or("clean_up_tokenization_spaces", false));
  RUNG_CHECK(read_side(config, "padding_side", settings.pads_left));
  RUNG_TRY(const Config sentence, config_of(texts, kSentenceConfig));
  RUNG_TRY(settings.lowers_sentences, sentence.get_bool_or("do_lower_case", false));
  return settings;
}

}  // namespace rung::text
