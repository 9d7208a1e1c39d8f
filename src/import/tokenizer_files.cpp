// Reading a WordPiece tokenizer's description: tokenizer.json, or vocab.txt with tokenizer_config.json.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "import/json_config.hpp"
#include "import/tokenizer.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerConfig = "tokenizer_config.json";
constexpr const char* kTokenizerJson = "tokenizer.json";
constexpr const char* kVocabTxt = "vocab.txt";
constexpr int64_t kMaxTokens = 1 << 24;
constexpr const char* kSpecial[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

Status read_vocabulary(const Config& model, TokenizerFiles& files) {
  RUNG_TRY(auto vocabulary, model.get_object("vocab"));
  for (const auto& [token, value] : vocabulary.json().items()) {
    RUNG_TRY(files.vocabulary[token], vocabulary.get_int(token, {0, kMaxTokens}));
  }
  return {};
}

// Lower case and accents go together unless strip_accents says otherwise.
Status read_rules(const Config& config, const char* lower, const char* cjk, WordRules& rules) {
  RUNG_TRY(rules.lower_case, config.get_bool_or(lower, true));
  RUNG_TRY(rules.split_cjk, config.get_bool_or(cjk, true));
  RUNG_TRY(rules.strip_accents, config.get_bool_or("strip_accents", rules.lower_case));
  return {};
}

Status read_normalizer(const Config& tokenizer, WordRules& rules) {
  RUNG_TRY(auto normalizer, tokenizer.get_object("normalizer"));
  RUNG_CHECK(normalizer.get_word("type", {"BertNormalizer"}));
  RUNG_TRY(rules.clean_text, normalizer.get_bool_or("clean_text", true));
  return read_rules(normalizer, "lowercase", "handle_chinese_chars", rules);
}

// Tokens matched in the raw text. Options that change the text around them are refused rather than ignored.
Status read_added_tokens(const Config& tokenizer, TokenizerFiles& files) {
  auto list = tokenizer.json().find("added_tokens");
  if (list == tokenizer.json().end() || list->is_null()) return {};
  if (!list->is_array())
    return bad_file("'{}': field 'added_tokens': got {}, wanted an array", tokenizer.what(), describe(*list));
  for (const auto& item : *list) {
    RUNG_TRY(auto token, Config::of(item, fmt::format("{}: added_tokens", tokenizer.what())));
    RUNG_TRY(std::string content, token.get_text("content"));
    RUNG_TRY(int64_t id, token.get_int("id", {0, kMaxTokens}));
    for (const char* option : {"single_word", "lstrip", "rstrip", "normalized"}) {
      RUNG_TRY(bool on, token.get_bool_or(option, false));
      if (on) return bad_file("'{}': token '{}': got {} true, wanted false", token.what(), content, option);
    }
    if (content.empty()) return bad_file("'{}': got an empty token", token.what());
    files.special[content] = files.vocabulary[content] = id;
  }
  return {};
}

Status read_tokenizer_json(const std::string& text, TokenizerFiles& files) {
  RUNG_TRY(auto tokenizer, Config::parse(text, kTokenizerJson));
  RUNG_TRY(auto model, tokenizer.get_object("model"));
  RUNG_CHECK(model.get_word("type", {"WordPiece"}));
  RUNG_CHECK(read_vocabulary(model, files));
  RUNG_TRY(files.unknown, model.get_text_or("unk_token", "[UNK]"));
  RUNG_TRY(files.continuation, model.get_text_or("continuing_subword_prefix", "##"));
  RUNG_TRY(auto characters, model.get_int_or("max_input_chars_per_word", {1, 100000}, 100));
  files.max_word_characters = static_cast<size_t>(characters);
  RUNG_CHECK(read_normalizer(tokenizer, files.rules));
  RUNG_TRY(auto splitter, tokenizer.get_object("pre_tokenizer"));
  RUNG_CHECK(splitter.get_word("type", {"BertPreTokenizer"}));
  return read_added_tokens(tokenizer, files);
}

// One token a line; its id is the line's number. Of a token that stands twice the last counts.
void read_vocab_txt(const std::string& text, TokenizerFiles& files) {
  std::istringstream lines(text);
  int64_t id = 0;
  for (std::string line; std::getline(lines, line); ++id) {
    if (line.ends_with('\r')) line.pop_back();
    files.vocabulary[line] = id;
  }
  for (const char* token : kSpecial)
    if (auto found = files.vocabulary.find(token); found != files.vocabulary.end())
      files.special[token] = found->second;
}

// Some files give a huge number for "no limit".
Status read_max_length(const Config& config, TokenizerFiles& files) {
  RUNG_TRY(double length, config.get_number_or("model_max_length", 1, 1e40, 1e40));
  if (length <= 1e9) files.model_max_length = static_cast<int64_t>(length);
  return {};
}

}  // namespace

Result<TextFiles> tokenizer_texts(const std::string& directory) {
  TextFiles texts;
  std::error_code error;
  for (const char* name : {kTokenizerConfig, kTokenizerJson, kVocabTxt}) {
    fs::path path = fs::path(directory) / name;
    if (!fs::exists(path, error) || (name == kVocabTxt && texts.contains(kTokenizerJson))) continue;
    RUNG_TRY(std::string text, read_text_file(path.string()));
    if (valid_utf8(text) != text) return bad_file("'{}': not UTF-8", path.string());
    texts[name] = std::move(text);
  }
  return texts;
}

Result<TokenizerFiles> read_tokenizer_files(const TextFiles& texts) {
  TokenizerFiles files;
  auto settings = texts.find(kTokenizerConfig);
  RUNG_TRY(auto config, Config::parse(settings == texts.end() ? "{}" : settings->second, kTokenizerConfig));
  RUNG_CHECK(read_max_length(config, files));
  if (auto json = texts.find(kTokenizerJson); json != texts.end()) {
    RUNG_CHECK(read_tokenizer_json(json->second, files));
  } else if (auto vocabulary = texts.find(kVocabTxt); vocabulary != texts.end()) {
    read_vocab_txt(vocabulary->second, files);
    RUNG_CHECK(read_rules(config, "do_lower_case", "tokenize_chinese_chars", files.rules));
  } else {
    return bad_file("no tokenizer: wanted tokenizer.json or vocab.txt");
  }
  return files;
}

}  // namespace rung
