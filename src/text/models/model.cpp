// The table of models, and what several of them share.
// SPDX-License-Identifier: Apache-2.0
#include "text/models/model.hpp"

namespace rung::text {
namespace {

struct ModelRow {
  const char* type;
  Result<std::shared_ptr<const TokenModel>> (*read)(const Config&);
};
constexpr ModelRow kModels[] = {
    {"BPE", read_bpe}, {"Unigram", read_unigram}, {"WordPiece", read_word_piece}, {"WordLevel", read_word_level}};

// Files before version 0.9 of the published library name no type.
std::string default_type(const Config& model) {
  if (model.contains("merges")) return "BPE";
  if (model.contains("unk_id")) return "Unigram";
  return model.contains("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

}  // namespace

Result<std::shared_ptr<const TokenModel>> read_model(const Config& tokenizer) {
  RUNG_TRY(const Config model, tokenizer.get_object("model"));
  std::string type = default_type(model);
  if (model.contains("type")) {
    std::vector<std::string> types;
    for (const ModelRow& row : kModels) types.emplace_back(row.type);
    RUNG_TRY(type, model.get_word("type", types));
  }
  for (const ModelRow& row : kModels)
    if (type == row.type) return row.read(model);
  return bad_file("'{}': no type", model.what());
}

Result<int64_t> token_in_field(const Config& model, const char* field, const Vocabulary& vocabulary) {
  RUNG_TRY(const std::string token, model.get_text(field));
  const auto id = vocabulary.id_of(token);
  if (!id)
    return bad_file("'{}': field '{}': got '{}', wanted one of the {} tokens of the vocabulary", model.what(), field,
                    token, vocabulary.size());
  return *id;
}

bool add_bytes(std::string_view word, const Vocabulary& vocabulary, Ids& ids) {
  const size_t before = ids.size();
  for (char byte : word) {
    const auto id = vocabulary.id_of(fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte)));
    if (!id) {
      ids.resize(before);
      return false;
    }
    ids.push_back(*id);
  }
  return true;
}

}  // namespace rung::text
