// Reads the parts of a tokenizer from its files.
// SPDX-License-Identifier: Apache-2.0
#include "text/parts.hpp"

#include "text/normalizers/normalizers.hpp"
#include "text/pre_tokenizers/pre_tokenizers.hpp"
#include "text/settings.hpp"

namespace rung {
namespace {

using text::AddedTokens;
using text::Settings;
using text::Vocabulary;

// The names that BERT's class has for special tokens by itself.
constexpr const char* kBertTokens[] = {"[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"};

// Returns whether the published library makes a tokenizer of BERT's class of the description.
bool is_bert(const Config& description, const Settings& settings) {
  const auto model = description.get_object("model");
  const bool has_pieces = model && model->get_word("type", {"WordPiece"});
  return has_pieces && (settings.tokenizer_class.empty() || settings.tokenizer_class.starts_with("BertTokenizer"));
}

// Adds a special token by its name, if the vocabulary has it.
void add_special(const std::string& name, const Vocabulary& vocabulary, AddedTokens& added) {
  const auto id = vocabulary.id_of(name);
  if (id && !name.empty() && !added.id_of(name)) added.set({.content = name, .id = *id, .special = true});
}

Result<AddedTokens> read_all_added(const Config& description, const Settings& settings, const Vocabulary& vocabulary) {
  AddedTokens added;
  RUNG_CHECK(text::read_added_tokens(description, vocabulary, added));
  for (const text::AddedToken& token : settings.added) added.set(token);
  for (const auto& entry : settings.names) add_special(entry.second, vocabulary, added);
  if (is_bert(description, settings))
    for (const char* name : kBertTokens) add_special(name, vocabulary, added);
  return added;
}

Result<text::Frame> read_frame(const Config& description, const Settings& settings, const text::TokenNames& names) {
  if (!description.contains("post_processor") && is_bert(description, settings))
    return bad_file(
        "'{}': no post_processor: versions of the published library disagree on whether [CLS] and [SEP] stand around a "
        "text then; wanted TemplateProcessing",
        description.what());
  return text::read_frame(description, [&](int64_t id) { return names.find(id) != nullptr; });
}

// Errors: sentence-transformers would make texts lower case, and it would make a difference.
Status check_case(const Settings& settings, const std::vector<text::Normalizer>& normalizers) {
  if (!settings.lowers_sentences) return {};
  text::Piece upper{.text = "A\u00c9"}, lower{.text = "a\u00e9"};
  for (const auto& normalize : normalizers) {
    RUNG_CHECK(normalize(upper));
    RUNG_CHECK(normalize(lower));
  }
  if (upper.text == lower.text) return {};
  return bad_file("'{}': got do_lower_case true for a tokenizer that keeps upper case, wanted false",
                  text::kSentenceConfig);
}

Result<bool> reads_cuts_left(const Config& description, const Settings& settings) {
  if (settings.cuts_left || !description.contains("truncation")) return settings.cuts_left.value_or(false);
  RUNG_TRY(const Config truncation, description.get_object("truncation"));
  RUNG_TRY(const std::string side, truncation.get_text_or("direction", "Right"));
  return side == "Left";
}

}  // namespace

Result<Tokenizer::Parts> Tokenizer::Parts::read(const TextFiles& texts) {
  RUNG_TRY(const Config description, text::read_description(texts));
  RUNG_TRY(const Settings settings, text::read_settings(texts));
  RUNG_TRY(auto model, text::read_model(description));
  RUNG_TRY(auto normalizers, text::read_normalizers(description));
  RUNG_CHECK(check_case(settings, normalizers));
  RUNG_TRY(AddedTokens added, read_all_added(description, settings, model->vocabulary()));
  RUNG_CHECK(added.spell(normalizers));
  RUNG_TRY(auto pre_tokenizers, text::read_pre_tokenizers(description));
  text::TokenNames names(model->vocabulary(), added);
  RUNG_TRY(auto frame, read_frame(description, settings, names));
  RUNG_TRY(auto padding, text::read_padding(description, settings, added, model->vocabulary()));
  RUNG_TRY(const bool cuts_left, reads_cuts_left(description, settings));
  return Parts{.raw = text::TokenFinder::make(added, /*normalized=*/false),
               .normalizers = std::move(normalizers),
               .normalized = text::TokenFinder::make(added, /*normalized=*/true),
               .pre_tokenizers = std::move(pre_tokenizers),
               .model = std::move(model),
               .frame = std::move(frame),
               .padding = padding,
               .cuts_left = cuts_left,
               .model_max_length = settings.model_max_length,
               .names = std::move(names),
               .decoders = text::read_decoders(description),
               .cleans_up = settings.cleans_up};
}

}  // namespace rung
