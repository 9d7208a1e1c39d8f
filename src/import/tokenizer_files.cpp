// Reads a WordPiece tokenizer's description: tokenizer.json, or vocab.txt with tokenizer_config.json.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "import/json_config.hpp"
#include "import/tokenizer.hpp"
#include "import/tokenizer_frame.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerConfig = "tokenizer_config.json";
constexpr const char* kSentenceConfig = "sentence_bert_config.json";
constexpr const char* kTokenizerJson = "tokenizer.json";
constexpr const char* kVocabTxt = "vocab.txt";
constexpr int64_t kMaxTokens = 1 << 24;

Status read_vocabulary(const Config& model, TokenizerFiles& files) {
  RUNG_TRY(auto vocabulary, model.get_object("vocab"));
  for (const auto& [token, value] : vocabulary.json().items()) {
    RUNG_TRY(files.vocabulary[token], vocabulary.get_int(token, {0, kMaxTokens}));
  }
  return {};
}

// Reads the rules of words: lower case strips accents, too, unless strip_accents says otherwise.
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

// Adds a token that is matched in the raw text. Options that change the text around it are refused rather than ignored.
Status add_token(const Config& token, int64_t id, TokenizerFiles& files) {
  RUNG_TRY(std::string content, token.get_text("content"));
  for (const char* option : {"single_word", "lstrip", "rstrip", "normalized"}) {
    RUNG_TRY(bool on, token.get_bool_or(option, false));
    if (on) return bad_file("'{}': token '{}': got {} true, wanted false", token.what(), content, option);
  }
  if (content.empty()) return bad_file("'{}': got an empty token", token.what());
  files.special[content] = files.vocabulary[content] = id;
  return {};
}

Status read_added_tokens(const Config& tokenizer, TokenizerFiles& files) {
  auto list = tokenizer.json().find("added_tokens");
  if (list == tokenizer.json().end() || list->is_null()) return {};
  if (!list->is_array())
    return bad_file("'{}': field 'added_tokens': got {}, wanted an array", tokenizer.what(), describe(*list));
  for (const auto& item : *list) {
    RUNG_TRY(auto token, Config::of(item, fmt::format("{}: added_tokens", tokenizer.what())));
    RUNG_TRY(int64_t id, token.get_int("id", {0, kMaxTokens}));
    RUNG_CHECK(add_token(token, id, files));
  }
  return {};
}

// Adds the tokens of tokenizer_config.json, which lists them by id.
Status read_added_tokens_decoder(const Config& config, TokenizerFiles& files) {
  if (!config.contains("added_tokens_decoder")) return {};
  RUNG_TRY(auto decoder, config.get_object("added_tokens_decoder"));
  for (const auto& [key, item] : decoder.json().items()) {
    int64_t id = -1;
    auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || id < 0 || id > kMaxTokens)
      return bad_file("'{}': got '{}', wanted a token's id from 0 to {}", decoder.what(), key.substr(0, 60),
                      kMaxTokens);
    RUNG_TRY(auto token, Config::of(item, decoder.what()));
    RUNG_CHECK(add_token(token, id, files));
  }
  return {};
}

// Reads a name of a special token: a string, or an object with its content.
Status read_name(const Config& config, const char* field, std::string& name) {
  if (!config.contains(field)) return {};
  if (config.json().at(field).is_object()) {
    RUNG_TRY(auto token, config.get_object(field));
    RUNG_TRY(name, token.get_text("content"));
    return {};
  }
  RUNG_TRY(name, config.get_text(field));
  return {};
}

// Adds special tokens by name, if the vocabulary has them; they match as whole tokens.
Status read_special_tokens(const Config& config, TokenizerFiles& files) {
  const std::pair<const char*, std::string*> names[] = {{"cls_token", &files.cls},
                                                        {"sep_token", &files.sep},
                                                        {"pad_token", &files.pad},
                                                        {"unk_token", &files.unknown},
                                                        {"mask_token", &files.mask}};
  for (auto [field, name] : names) {
    RUNG_CHECK(read_name(config, field, *name));
    if (auto found = files.vocabulary.find(*name); found != files.vocabulary.end() && !name->empty())
      files.special[*name] = found->second;
  }
  return read_added_tokens_decoder(config, files);
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
  RUNG_CHECK(read_added_tokens(tokenizer, files));
  RUNG_TRY(files.frame, read_frame(tokenizer));
  return {};
}

// Reads one token a line; its id is the line's number. The last of equal tokens counts.
void read_vocab_txt(const std::string& text, TokenizerFiles& files) {
  std::istringstream lines(text);
  int64_t id = 0;
  for (std::string line; std::getline(lines, line); ++id) {
    if (line.ends_with('\r')) line.pop_back();
    files.vocabulary[line] = id;
  }
}

// Reads the length; some files give a huge number for "no limit".
Status read_max_length(const Config& config, TokenizerFiles& files) {
  RUNG_TRY(double length, config.get_number_or("model_max_length", 1, 1e40, 1e40));
  if (length <= 1e9) files.model_max_length = static_cast<int64_t>(length);
  return {};
}

// Reads the rules from tokenizer_config.json for BERT's class, which is the default class: for it the published library
// takes them, or its own defaults, from there, whatever tokenizer.json has.
Status read_config_rules(const Config& config, WordRules& rules) {
  RUNG_TRY(std::string name, config.get_text_or("tokenizer_class", "BertTokenizer"));
  if (!name.starts_with("BertTokenizer")) return {};
  return read_rules(config, "do_lower_case", "tokenize_chinese_chars", rules);
}

Status read_side(const Config& config, TokenizerFiles& files) {
  if (!config.contains("truncation_side")) return {};
  RUNG_TRY(std::string side, config.get_word("truncation_side", {"left", "right"}));
  files.keeps_end = side == "left";
  return {};
}

// Checks this file's do_lower_case, by which sentence-transformers makes a text lower case by itself.
Status check_sentence_config(const TextFiles& texts, const TokenizerFiles& files) {
  auto text = texts.find(kSentenceConfig);
  if (text == texts.end()) return {};
  RUNG_TRY(auto config, Config::parse(text->second, kSentenceConfig));
  RUNG_TRY(bool lower, config.get_bool_or("do_lower_case", false));
  if (lower && !files.rules.lower_case)
    return bad_file("'{}': got do_lower_case true for a tokenizer that keeps upper case, wanted false",
                    kSentenceConfig);
  return {};
}

}  // namespace

Result<TextFiles> tokenizer_texts(const std::string& directory) {
  TextFiles texts;
  std::error_code error;
  for (const char* name : {kTokenizerConfig, kSentenceConfig, kTokenizerJson, kVocabTxt}) {
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
  const auto settings = texts.find(kTokenizerConfig);
  const bool has_settings = settings != texts.end();
  RUNG_TRY(auto config, Config::parse(has_settings ? settings->second : "{}", kTokenizerConfig));
  RUNG_CHECK(read_max_length(config, files));
  if (auto json = texts.find(kTokenizerJson); json != texts.end()) {
    RUNG_CHECK(read_tokenizer_json(json->second, files));
    if (has_settings) RUNG_CHECK(read_config_rules(config, files.rules));
  } else if (auto vocabulary = texts.find(kVocabTxt); vocabulary != texts.end()) {
    read_vocab_txt(vocabulary->second, files);
    RUNG_CHECK(read_rules(config, "do_lower_case", "tokenize_chinese_chars", files.rules));
  } else {
    return bad_file("no tokenizer: wanted tokenizer.json or vocab.txt");
  }
  RUNG_CHECK(read_special_tokens(config, files));
  RUNG_CHECK(read_side(config, files));
  RUNG_CHECK(check_sentence_config(texts, files));
  return files;
}

}  // namespace rung
