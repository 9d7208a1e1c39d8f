// Decoders that put blanks between words: those of BERT, of SentencePiece and of speech.
// SPDX-License-Identifier: Apache-2.0
#include "text/clean_up.hpp"
#include "text/decoders/decoders.hpp"
#include "text/metaspace.hpp"
#include "text/replacer.hpp"

namespace rung::text {
namespace {

// Cleans up a token; a decoder contracts "do not", too.
std::string cleaned_token(std::string token) {
  CleanUp clean_up;
  std::string text = clean_up.add(std::move(token));
  text += clean_up.end();
  return with_replaced(text, " do not", " don't");
}

struct Letters {
  std::string silence, delimiter;  // stand for no letter, and for the end of a word
  bool cleans = true;
};

// A letter that stands several times in a row was heard once.
class SpokenLetters : public DecoderStage {
 public:
  explicit SpokenLetters(Letters letters) : letters_(std::move(letters)) {}

  Status add(std::string token, Tokens& out) override {
    if (has_last_ && token == last_) return {};
    has_last_ = true;
    last_ = token;
    token = with_replaced(token, letters_.silence, "");
    if (letters_.cleans) token = with_replaced(cleaned_token(std::move(token)), letters_.delimiter, " ");
    if (!token.empty()) out.push_back(std::move(token));
    return {};
  }

 private:
  Letters letters_;
  std::string last_;
  bool has_last_ = false;
};

}  // namespace

Result<Decoder> read_word_piece_decoder(const Config& part) {
  RUNG_TRY(const std::string continuation, part.get_text_or("prefix", "##"));
  RUNG_TRY(const bool cleans, part.get_bool_or("cleanup", true));
  return each_token([continuation, cleans](const std::string& token, bool is_first) {
    const bool goes_on = !is_first && token.starts_with(continuation);
    std::string text = is_first ? token : goes_on ? token.substr(continuation.size()) : ' ' + token;
    return cleans ? cleaned_token(std::move(text)) : text;
  });
}

// The mark before a text, if one was put there, is no blank.
Result<Decoder> read_metaspace_decoder(const Config& part) {
  RUNG_TRY(const Metaspace metaspace, read_metaspace_settings(part));
  return each_token([metaspace](const std::string& token, bool is_first) {
    const bool drops = is_first && metaspace.prepends != Metaspace::Prepends::never;
    return with_replaced(token, metaspace.mark, drops ? "" : " ");
  });
}

Result<Decoder> read_ctc_decoder(const Config& part) {
  Letters letters;
  RUNG_TRY(letters.silence, part.get_text_or("pad_token", "<pad>"));
  RUNG_TRY(letters.delimiter, part.get_text_or("word_delimiter_token", "|"));
  RUNG_TRY(letters.cleans, part.get_bool_or("cleanup", true));
  if (letters.silence.empty() || letters.delimiter.empty())
    return bad_file("'{}': got an empty pad_token or word_delimiter_token, wanted tokens", part.what());
  return Decoder{.begin = [letters](bool) { return std::make_unique<SpokenLetters>(letters); }};
}

}  // namespace rung::text
