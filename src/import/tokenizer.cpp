// Splits words into pieces by greedy longest match, and makes a model's inputs of pieces.
// SPDX-License-Identifier: Apache-2.0
#include "import/tokenizer.hpp"

#include <algorithm>
#include <utility>

namespace rung {
namespace {

// Returns byte offsets where characters begin, and the end. `word` is valid UTF-8.
std::vector<size_t> character_starts(const std::string& word) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < word.size(); ++i)
    if ((static_cast<unsigned char>(word[i]) & 0xc0) != 0x80) starts.push_back(i);
  starts.push_back(word.size());
  return starts;
}

// Builds the three inputs piece by piece.
class Builder {
 public:
  void add(int64_t id, int64_t type) {
    encoding.ids.push_back(id);
    encoding.attention_mask.push_back(1);
    encoding.token_type_ids.push_back(type);
  }
  void add(const std::vector<FramePiece>& pieces) {
    for (const FramePiece& piece : pieces) add(piece.id, piece.type);
  }
  Encoding finish(int64_t pad, int64_t length) {
    encoding.kept = static_cast<int64_t>(encoding.ids.size());
    auto size = std::max(encoding.ids.size(), static_cast<size_t>(std::max<int64_t>(length, 0)));
    encoding.ids.resize(size, pad);
    encoding.attention_mask.resize(size, 0);
    encoding.token_type_ids.resize(size, 0);
    return std::move(encoding);
  }
  Encoding encoding;
};

}  // namespace

Tokenizer::Tokenizer(TokenizerFiles files) : files_(std::move(files)) {
  const auto id = [&](const std::string& token) { return files_.vocabulary.at(token); };
  frame_ = files_.frame.value_or(Frame{.before = {{id(files_.cls)}}, .after = {{id(files_.sep)}}});
  pad_ = id(files_.pad);
  unknown_ = id(files_.unknown);
  for (const auto& [token, _] : files_.special) special_begins_.set(static_cast<unsigned char>(token.front()));
}

Result<Tokenizer> Tokenizer::make(TokenizerFiles files) {
  for (const std::string& token : {files.cls, files.sep, files.pad, files.unknown})
    if (!files.vocabulary.contains(token))
      return bad_file("vocabulary of {} tokens: no '{}', wanted a BERT vocabulary", files.vocabulary.size(), token);
  return Tokenizer(std::move(files));
}

Result<Tokenizer> Tokenizer::open(const std::string& directory) {
  RUNG_TRY(TextFiles texts, tokenizer_texts(directory));
  auto tokenizer = from_texts(texts);
  if (!tokenizer) return fail_in(tokenizer.error(), "'{}'", directory);
  return tokenizer;
}

Result<Tokenizer> Tokenizer::from_texts(const TextFiles& texts) {
  RUNG_TRY(auto files, read_tokenizer_files(texts));
  return make(std::move(files));
}

// Takes the longest piece first; a word with any part that no piece matches is unknown as a whole.
void Tokenizer::add_word(const std::string& word, std::vector<int64_t>& ids) const {
  auto starts = character_starts(word);
  size_t characters = starts.size() - 1, first_id = ids.size();
  bool known = characters <= files_.max_word_characters;
  std::string piece;
  for (size_t begin = 0; known && begin < characters;) {
    size_t end = characters;
    for (; end > begin; --end) {
      piece.assign(begin ? files_.continuation : std::string());
      piece.append(word, starts[begin], starts[end] - starts[begin]);
      auto found = files_.vocabulary.find(piece);
      if (found == files_.vocabulary.end()) continue;
      ids.push_back(found->second);
      break;
    }
    known = end > begin;
    begin = end;
  }
  if (known) return;
  ids.resize(first_id);
  ids.push_back(unknown_);
}

void Tokenizer::add_plain(std::string_view text, std::vector<int64_t>& ids) const {
  for (const auto& word : split_words(text, files_.rules)) add_word(word, ids);
}

// Returns the longest special token that `text` begins with.
const std::pair<const std::string, int64_t>* Tokenizer::special_at(std::string_view text) const {
  const std::pair<const std::string, int64_t>* longest = nullptr;
  for (const auto& token : files_.special)
    if (text.starts_with(token.first) && (!longest || token.first.size() > longest->first.size())) longest = &token;
  return longest;
}

// Looks for special tokens in the raw text, before it is cleaned.
std::vector<int64_t> Tokenizer::pieces(std::string_view text) const {
  std::vector<int64_t> ids;
  size_t plain = 0;  // begin of the text since the last special token
  for (size_t at = 0; at < text.size();) {
    const bool may_begin = special_begins_[static_cast<unsigned char>(text[at])];
    const auto* token = may_begin ? special_at(text.substr(at)) : nullptr;
    if (!token) {
      ++at;
      continue;
    }
    add_plain(text.substr(plain, at - plain), ids);
    ids.push_back(token->second);
    plain = at += token->first.size();
  }
  add_plain(text.substr(plain), ids);
  return ids;
}

Result<Encoding> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  const auto specials = static_cast<int64_t>(frame_.before.size() + frame_.after.size());
  if (options.max_length < specials)
    return wrong_usage("max_length: got {}, wanted at least {} for the special tokens", options.max_length, specials);
  const auto ids = pieces(text);
  const size_t kept = std::min(ids.size(), static_cast<size_t>(options.max_length - specials));
  const size_t first = files_.keeps_end ? ids.size() - kept : 0;
  Builder out;
  out.add(frame_.before);
  for (size_t i = first; i < first + kept; ++i) out.add(ids[i], frame_.type);
  out.add(frame_.after);
  out.encoding.tokens = specials + static_cast<int64_t>(ids.size());
  return out.finish(pad_, options.pad_to);
}

}  // namespace rung
