// Leads texts through the parts of a tokenizer.
// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "text/cut.hpp"
#include "text/parts.hpp"
#include "text/text_stream.hpp"

namespace rung {
namespace {

using text::Ids;

// The tokens of a text that are kept.
struct KeptPart {
  size_t first = 0, count = 0;
};

std::vector<KeptPart> kept_parts(const std::vector<Ids>& texts, size_t room, bool cuts_left) {
  std::vector<size_t> counts{std::min(texts[0].size(), room)};
  if (texts.size() == 2) {
    const auto [first, second] = text::kept_of_pair(texts[0].size(), texts[1].size(), room);
    counts = {first, second};
  }
  std::vector<KeptPart> parts;
  for (size_t i = 0; i < texts.size(); ++i) parts.push_back({cuts_left ? texts[i].size() - counts[i] : 0, counts[i]});
  return parts;
}

Encoding framed(const std::vector<Ids>& texts, const std::vector<KeptPart>& parts, const text::FramePieces& pieces) {
  Encoding encoding;
  for (const text::FramePiece& piece : pieces) {
    if (!piece.text) {
      encoding.ids.push_back(piece.id);
    } else {
      const size_t which = static_cast<size_t>(*piece.text);
      const auto first = texts[which].begin() + static_cast<std::ptrdiff_t>(parts[which].first);
      encoding.ids.insert(encoding.ids.end(), first, first + static_cast<std::ptrdiff_t>(parts[which].count));
    }
    encoding.token_type_ids.resize(encoding.ids.size(), piece.type);
  }
  encoding.attention_mask.assign(encoding.ids.size(), 1);
  encoding.kept = static_cast<int64_t>(encoding.ids.size());
  return encoding;
}

Status add_ids(const Tokenizer::Parts& parts, std::string_view text, Ids& ids) {
  text::Pieces raw, pieces;
  parts.raw.split({.text = text::as_utf8(text), .begins = true}, raw);
  for (text::Piece& piece : raw) {
    if (piece.token) {
      pieces.push_back(std::move(piece));
      continue;
    }
    for (const auto& normalize : parts.normalizers) RUNG_CHECK(normalize(piece));
    parts.normalized.split(piece, pieces);
  }
  for (const auto& split : parts.pre_tokenizers) RUNG_CHECK(split(pieces));
  for (const text::Piece& piece : pieces) {
    if (piece.token)
      ids.push_back(*piece.token);
    else
      RUNG_CHECK(parts.model->add_ids(piece.text, ids));
  }
  return {};
}

Result<Encoding> encode_all(const Tokenizer::Parts& parts, const std::vector<std::string_view>& texts,
                            EncodeOptions options) {
  const text::FramePieces& pieces = texts.size() == 1 ? parts.frame.single : parts.frame.pair;
  const auto specials = std::count_if(pieces.begin(), pieces.end(), [](const auto& piece) { return !piece.text; });
  if (options.max_length < specials)
    return wrong_usage("max_length: got {}, wanted at least {} for the special tokens", options.max_length, specials);
  std::vector<Ids> ids(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) RUNG_CHECK(add_ids(parts, texts[i], ids[i]));
  const auto kept = kept_parts(ids, static_cast<size_t>(options.max_length - specials), parts.cuts_left);
  Encoding encoding = framed(ids, kept, pieces);
  encoding.tokens = specials;
  for (const Ids& each : ids) encoding.tokens += static_cast<int64_t>(each.size());
  RUNG_CHECK(parts.padding.apply(options.pad_to, encoding));
  return encoding;
}

}  // namespace

Result<Tokenizer> Tokenizer::open(const std::string& directory) {
  RUNG_TRY(const TextFiles texts, tokenizer_texts(directory));
  auto tokenizer = from_texts(texts);
  if (!tokenizer) return fail_in(tokenizer.error(), "'{}'", directory);
  return tokenizer;
}

Result<Tokenizer> Tokenizer::from_texts(const TextFiles& texts) {
  RUNG_TRY(Parts parts, Parts::read(texts));
  return Tokenizer(std::make_shared<const Parts>(std::move(parts)));
}

Result<Encoding> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  return encode_all(*parts_, {text}, options);
}

Result<Encoding> Tokenizer::encode(TextPair texts, EncodeOptions options) const {
  if (parts_->frame.pair.empty()) return mismatch("the tokenizer has no template for two texts");
  return encode_all(*parts_, {texts.first, texts.second}, options);
}

Result<std::vector<int64_t>> Tokenizer::pieces(std::string_view text) const {
  Ids ids;
  RUNG_CHECK(add_ids(*parts_, text, ids));
  return ids;
}

Result<TextStream> Tokenizer::stream(DecodeOptions options) const { return TextStream::begin(parts_, options); }

Result<std::string> Tokenizer::decode(std::span<const int64_t> ids, DecodeOptions options) const {
  RUNG_TRY(TextStream stream, this->stream(options));
  std::string text;
  for (const int64_t id : ids) {
    RUNG_TRY(const std::string more, stream.add(id));
    text += more;
  }
  RUNG_TRY(const std::string rest, stream.end());
  return text + rest;
}

std::optional<int64_t> Tokenizer::first_difference(const Tokenizer& other) const {
  return parts_->names.first_difference(other.parts_->names);
}

std::optional<int64_t> Tokenizer::model_max_length() const { return parts_->model_max_length; }

}  // namespace rung
