// Reads and applies padding.
// SPDX-License-Identifier: Apache-2.0
#include "text/padding.hpp"

namespace rung::text {
namespace {

constexpr const char* kUsualNames[] = {"[PAD]", "<pad>"};

std::optional<int64_t> known_id(const std::string& token, const AddedTokens& added, const Vocabulary& vocabulary) {
  const auto id = added.id_of(token);
  return id ? id : vocabulary.id_of(token);
}

void pad(std::vector<int64_t>& values, size_t count, int64_t value, bool is_left) {
  values.insert(is_left ? values.begin() : values.end(), count, value);
}

}  // namespace

Status Padding::apply(int64_t length, Encoding& encoding) const {
  const auto size = static_cast<int64_t>(encoding.ids.size());
  if (size >= length) return {};
  if (!id)
    return mismatch("the tokenizer names no pad_token, and a text of {} tokens must be filled up to {}", size, length);
  const auto count = static_cast<size_t>(length - size);
  pad(encoding.ids, count, *id, is_left);
  pad(encoding.token_type_ids, count, type, is_left);
  pad(encoding.attention_mask, count, 0, is_left);
  return {};
}

Result<Padding> read_padding(const Config& tokenizer, const Settings& settings, const AddedTokens& added,
                             const Vocabulary& vocabulary) {
  Padding padding;
  for (const char* name : kUsualNames)
    if (!padding.id) padding.id = known_id(name, added, vocabulary);
  if (tokenizer.contains("padding")) {
    RUNG_TRY(const Config part, tokenizer.get_object("padding"));
    RUNG_TRY(padding.id, part.get_int("pad_id", kTokenIds));
    RUNG_TRY(padding.type, part.get_int_or("pad_type_id", {0, 65535}, 0));
    RUNG_TRY(const std::string side, part.get_text_or("direction", "Right"));
    padding.is_left = side == "Left";
  }
  if (const auto named = settings.names.find("pad_token"); named != settings.names.end()) {
    padding.id = known_id(named->second, added, vocabulary);
    if (!padding.id)
      return bad_file("'{}': field 'pad_token': got '{}', wanted a token that the tokenizer has", kTokenizerConfig,
                      named->second);
  }
  padding.is_left = settings.pads_left.value_or(padding.is_left);
  return padding;
}

}  // namespace rung::text
