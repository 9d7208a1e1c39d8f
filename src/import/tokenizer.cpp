// Words to pieces by greedy longest match, and pieces to a model's inputs.
// SPDX-License-Identifier: Apache-2.0
#include "import/tokenizer.hpp"

#include <algorithm>

namespace rung {
namespace {

// Byte offsets where characters begin, and the end. `word` is valid UTF-8.
std::vector<size_t> character_starts(const std::string& word) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < word.size(); ++i)
    if ((static_cast<unsigned char>(word[i]) & 0xc0) != 0x80) starts.push_back(i);
  starts.push_back(word.size());
  return starts;
}

// Builds the three inputs segment by segment.
class Builder {
 public:
  void add(int64_t id) {
    encoding.ids.push_back(id);
    encoding.attention_mask.push_back(1);
    encoding.token_type_ids.push_back(0);
  }
  void add(const std::vector<int64_t>& ids, size_t count) {
    for (size_t i = 0; i < count; ++i) add(ids[i]);
    if (count < ids.size()) encoding.truncated = true;
  }
  Encoding finish(int64_t pad, int64_t length) {
    auto size = std::max(encoding.ids.size(), static_cast<size_t>(std::max<int64_t>(length, 0)));
    encoding.ids.resize(size, pad);
    encoding.attention_mask.resize(size, 0);
    encoding.token_type_ids.resize(size, 0);
    return std::move(encoding);
  }
  Encoding encoding;
};

Result<size_t> room_for(EncodeOptions options) {
  constexpr int64_t kSpecials = 2;
  if (options.max_length < kSpecials)
    return wrong_usage("max_length: got {}, wanted at least {} for the special tokens", options.max_length, kSpecials);
  return static_cast<size_t>(options.max_length - kSpecials);
}

}  // namespace

Tokenizer::Tokenizer(TokenizerFiles files) : files_(std::move(files)) {
  cls_ = files_.vocabulary.at("[CLS]");
  sep_ = files_.vocabulary.at("[SEP]");
  pad_ = files_.vocabulary.at("[PAD]");
  unknown_ = files_.vocabulary.at(files_.unknown);
}

Result<Tokenizer> Tokenizer::make(TokenizerFiles files) {
  for (const std::string& token : {std::string("[CLS]"), std::string("[SEP]"), std::string("[PAD]"), files.unknown})
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

// Longest piece first; a word with any part that no piece matches is unknown as a whole.
void Tokenizer::add_word(const std::string& word, std::vector<int64_t>& ids) const {
  auto starts = character_starts(word);
  size_t characters = starts.size() - 1, first_id = ids.size();
  bool known = characters <= files_.max_word_characters;
  for (size_t begin = 0; known && begin < characters;) {
    size_t end = characters;
    for (; end > begin; --end) {
      std::string piece = begin ? files_.continuation : std::string();
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

// The longest special token that `text` begins with.
const std::pair<const std::string, int64_t>* Tokenizer::special_at(std::string_view text) const {
  const std::pair<const std::string, int64_t>* longest = nullptr;
  for (const auto& token : files_.special)
    if (text.starts_with(token.first) && (!longest || token.first.size() > longest->first.size())) longest = &token;
  return longest;
}

// Special tokens are looked for in the raw text, before it is cleaned.
std::vector<int64_t> Tokenizer::pieces(std::string_view text) const {
  std::vector<int64_t> ids;
  size_t plain = 0;  // where the text since the last special token begins
  for (size_t at = 0; at < text.size();) {
    const auto* token = special_at(text.substr(at));
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
  RUNG_TRY(size_t room, room_for(options));
  auto ids = pieces(text);
  Builder out;
  out.add(cls_);
  out.add(ids, std::min(ids.size(), room));
  out.add(sep_);
  return out.finish(pad_, options.pad_to);
}

}  // namespace rung
