// Words that are tokens as they stand.
// SPDX-License-Identifier: Apache-2.0
#include "text/models/model.hpp"

namespace rung::text {
namespace {

class WordLevel : public TokenModel {
 public:
  WordLevel(Vocabulary vocabulary, std::optional<int64_t> unknown)
      : TokenModel(std::move(vocabulary)), unknown_(unknown) {}

  Status add_ids(std::string_view word, Ids& ids) const override {
    const auto id = vocabulary().id_of(word);
    if (!id && !unknown_)
      return mismatch("the word '{}' is not in the vocabulary, which has no token for unknown words", word);
    ids.push_back(id ? *id : *unknown_);
    return {};
  }

 private:
  std::optional<int64_t> unknown_;
};

}  // namespace

// The field unk_token always has a name, which the vocabulary need not have.
Result<std::shared_ptr<const TokenModel>> read_word_level(const Config& model) {
  RUNG_TRY(const Config ids, model.get_object("vocab"));
  RUNG_TRY(Vocabulary vocabulary, Vocabulary::read(ids));
  RUNG_TRY(const std::string unknown, model.get_text_or("unk_token", "<unk>"));
  const auto id = vocabulary.id_of(unknown);
  return std::make_shared<const WordLevel>(std::move(vocabulary), id);
}

}  // namespace rung::text
