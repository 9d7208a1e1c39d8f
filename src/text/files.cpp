// Finds a tokenizer's files, and writes a description where there is none.
// SPDX-License-Identifier: Apache-2.0
#include "text/files.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "text/settings.hpp"

namespace rung {

namespace {

namespace fs = std::filesystem;

Status add_text(const std::string& directory, const std::string& name, TextFiles& texts) {
  const std::string path = (fs::path(directory) / name).string();
  RUNG_TRY(std::string content, read_text_file(path));
  if (valid_utf8(content) != content) return bad_file("'{}': not UTF-8", path);
  texts[name] = std::move(content);
  return {};
}

// Adds the templates of the folder chat_templates.
Status add_chat_templates(const std::string& directory, TextFiles& texts) {
  std::error_code error;
  for (fs::directory_iterator at(fs::path(directory) / text::kChatTemplates, error), end; !error && at != end;
       at.increment(error)) {
    const fs::path name = at->path().filename();
    if (name.extension() == ".jinja")
      RUNG_CHECK(add_text(directory, std::string(text::kChatTemplates) + name.string(), texts));
  }
  return {};
}

}  // namespace

Result<TextFiles> tokenizer_texts(const std::string& directory) {
  TextFiles texts;
  std::error_code error;
  for (const char* name :
       {text::kTokenizerConfig, text::kSentenceConfig, text::kTokenizerJson, text::kVocabTxt, text::kVocabJson,
        text::kMergesTxt, text::kChatTemplate, text::kChatTemplateJson, text::kGenerationConfig}) {
    const bool is_older = name == text::kVocabTxt || name == text::kVocabJson || name == text::kMergesTxt;
    if (!fs::exists(fs::path(directory) / name, error) || (is_older && texts.contains(text::kTokenizerJson))) continue;
    RUNG_CHECK(add_text(directory, name, texts));
  }
  RUNG_CHECK(add_chat_templates(directory, texts));
  return texts;
}

}  // namespace rung

namespace rung::text {
namespace {

using Json = nlohmann::json;

// Reads one token a line; its id is the line's number. The last of equal tokens counts.
Json ids_by_line(const std::string& text) {
  std::istringstream lines(text);
  Json ids = Json::object();
  uint64_t id = 0;
  for (std::string line; std::getline(lines, line); ++id) {
    if (line.ends_with('\r')) line.pop_back();
    ids[line] = id;
  }
  return ids;
}

// Reads a pair of tokens a line, after a first line with the version.
Json merges_by_line(const std::string& text) {
  std::istringstream lines(text);
  Json merges = Json::array();
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(line);
  }
  return merges;
}

// Makes descriptions from a vocabulary and the settings' names of special tokens.
class Describer {
 public:
  Describer(const TextFiles& texts, const Config& config, const Settings& settings, Json ids)
      : texts_(texts), config_(config), settings_(settings), ids_(std::move(ids)) {}

  Result<Json> bert() {
    RUNG_TRY(const bool lower, config_.get_bool_or("do_lower_case", true));
    RUNG_TRY(const bool cjk, config_.get_bool_or("tokenize_chinese_chars", true));
    RUNG_TRY(const bool accents, config_.get_bool_or("strip_accents", lower));
    RUNG_TRY(const Json cls, special("cls_token", "[CLS]"));
    RUNG_TRY(const Json sep, special("sep_token", "[SEP]"));
    RUNG_TRY(const Json unknown, special("unk_token", "[UNK]"));
    RUNG_CHECK(special("pad_token", "[PAD]"));
    return Json{
        {"normalizer",
         {{"type", "BertNormalizer"}, {"lowercase", lower}, {"handle_chinese_chars", cjk}, {"strip_accents", accents}}},
        {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
        {"post_processor", {{"type", "BertProcessing"}, {"cls", cls}, {"sep", sep}}},
        {"decoder", {{"type", "WordPiece"}}},
        {"model", {{"type", "WordPiece"}, {"unk_token", unknown[0]}, {"vocab", std::move(ids_)}}}};
  }

  Result<Json> bytes() {
    const std::string& name = settings_.tokenizer_class;
    const bool is_roberta = name.starts_with("Roberta") || (name.empty() && ids_.contains("</s>"));
    if (!is_roberta && !name.empty() && !name.starts_with("GPT2"))
      return bad_file("'{}': got '{}' with {} and {}, wanted GPT2Tokenizer, RobertaTokenizer or a {}", kTokenizerConfig,
                      name, kVocabJson, kMergesTxt, kTokenizerJson);
    RUNG_TRY(const bool adds_blank, config_.get_bool_or("add_prefix_space", false));
    Json description{{"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", adds_blank}}},
                     {"decoder", {{"type", "ByteLevel"}}},
                     {"added_tokens", known_specials(is_roberta)}};
    if (is_roberta) {
      RUNG_TRY(const Json cls, special("cls_token", "<s>"));
      RUNG_TRY(const Json sep, special("sep_token", "</s>"));
      description["post_processor"] = {{"type", "RobertaProcessing"}, {"cls", cls}, {"sep", sep}};
    }
    description["model"] = {
        {"type", "BPE"}, {"vocab", std::move(ids_)}, {"merges", merges_by_line(texts_.at(kMergesTxt))}};
    return description;
  }

 private:
  // Returns those tokens of the vocabulary that the class takes for special ones by itself.
  Json known_specials(bool is_roberta) const {
    Json tokens = Json::array();
    for (const char* token : {"<s>", "</s>", "<unk>", "<pad>", "<mask>", "<|endoftext|>"}) {
      const bool is_of_class = is_roberta != (std::string_view(token) == "<|endoftext|>");
      if (is_of_class && ids_.contains(token))
        tokens.push_back({{"content", token},
                          {"id", ids_.at(token)},
                          {"special", true},
                          {"lstrip", std::string_view(token) == "<mask>"}});
    }
    return tokens;
  }

  // Returns a special token with its id, as post-processors want it.
  Result<Json> special(const char* field, const char* otherwise) const {
    const auto named = settings_.names.find(field);
    const std::string token = named == settings_.names.end() ? otherwise : named->second;
    if (!ids_.contains(token))
      return bad_file("vocabulary of {} tokens: no '{}', wanted the special tokens of its class", ids_.size(), token);
    return Json::array({token, ids_.at(token)});
  }

  const TextFiles& texts_;
  const Config& config_;
  const Settings& settings_;
  Json ids_;
};

// Has tokenizer_config.json decide on case and ideographs for BERT's class, which is the default class: for it the
// published library takes them, or its own defaults, from there, whatever tokenizer.json has.
Status apply_bert_settings(const Config& config, Json& description) {
  RUNG_TRY(const std::string name, config.get_text_or("tokenizer_class", "BertTokenizer"));
  if (!name.starts_with("BertTokenizer") || !description.contains("normalizer")) return {};
  Json& normalizer = description["normalizer"];
  if (!normalizer.is_object() || normalizer.value("type", Json()) != "BertNormalizer") return {};
  RUNG_TRY(const bool lower, config.get_bool_or("do_lower_case", true));
  RUNG_TRY(normalizer["handle_chinese_chars"], config.get_bool_or("tokenize_chinese_chars", true));
  RUNG_TRY(normalizer["strip_accents"], config.get_bool_or("strip_accents", lower));
  normalizer["lowercase"] = lower;
  return {};
}

}  // namespace

Result<Config> read_description(const TextFiles& texts) {
  const auto has = [&](const char* name) { return texts.contains(name); };
  RUNG_TRY(const Config config,
           Config::parse(has(kTokenizerConfig) ? texts.at(kTokenizerConfig) : "{}", kTokenizerConfig));
  if (has(kTokenizerJson)) {
    RUNG_TRY(Json description, parse_json(texts.at(kTokenizerJson), kTokenizerJson));
    if (has(kTokenizerConfig) && description.is_object()) RUNG_CHECK(apply_bert_settings(config, description));
    return Config::of(std::move(description), kTokenizerJson);
  }
  RUNG_TRY(const Settings settings, read_settings(texts));
  if (has(kVocabTxt)) {
    RUNG_TRY(Json description, Describer(texts, config, settings, ids_by_line(texts.at(kVocabTxt))).bert());
    return Config::of(std::move(description), kVocabTxt);
  }
  if (has(kVocabJson) && has(kMergesTxt)) {
    RUNG_TRY(const Config ids, Config::parse(texts.at(kVocabJson), kVocabJson));
    RUNG_TRY(Json description, Describer(texts, config, settings, ids.json()).bytes());
    return Config::of(std::move(description), kVocabJson);
  }
  return bad_file("no tokenizer: wanted tokenizer.json, vocab.txt, or vocab.json and merges.txt");
}

}  // namespace rung::text
