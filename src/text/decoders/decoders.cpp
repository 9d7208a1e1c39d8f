// The table of decoders, with the short ones.
// SPDX-License-Identifier: Apache-2.0
#include "text/decoders/decoders.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "text/part_list.hpp"
#include "text/pattern.hpp"
#include "text/replacer.hpp"
#include "text/unicode.hpp"

namespace rung::text {
namespace {

// The end of a word is a blank but at the end of the text, so that the last token is held back.
class WordEnds : public DecoderStage {
 public:
  explicit WordEnds(std::string word_end) : word_end_(std::move(word_end)) {}

  Status add(std::string token, Tokens& out) override {
    if (last_) out.push_back(with_replaced(*last_, word_end_, " "));
    last_ = std::move(token);
    return {};
  }
  Status end(Tokens& out) override {
    if (last_) out.push_back(with_replaced(*last_, word_end_, ""));
    return {};
  }

 private:
  std::string word_end_;
  std::optional<std::string> last_;
};

Result<Decoder> read_bpe_decoder(const Config& part) {
  RUNG_TRY(const std::string word_end, part.get_text_or("suffix", "</w>"));
  if (word_end.empty()) return bad_file("'{}': field 'suffix': got an empty string", part.what());
  return Decoder{.begin = [word_end](bool) { return std::make_unique<WordEnds>(word_end); }};
}

// Replaces the matches of a pattern in each token.
class Replaced : public DecoderStage {
 public:
  Replaced(Finder find, std::string content) : find_(std::move(find)), content_(std::move(content)) {}

  Status add(std::string token, Tokens& out) override {
    RUNG_TRY(const Spans spans, find_(token));
    std::string text;
    for (const Span& span : spans)
      text += span.matched ? content_ : std::string_view(token).substr(span.begin, span.end - span.begin);
    out.push_back(std::move(text));
    return {};
  }

 private:
  Finder find_;
  std::string content_;
};

// Replaces a string that may begin in one part and end in another.
class ReplacedInParts : public DecoderStage {
 public:
  explicit ReplacedInParts(Replacer replacer) : replacer_(std::move(replacer)) {}

  Status add(std::string token, Tokens& out) override {
    out.push_back(replacer_.add(token));
    return {};
  }
  Status end(Tokens& out) override {
    out.push_back(replacer_.end());
    return {};
  }

 private:
  Replacer replacer_;
};

// A regular expression may look at all of a token.
Result<Decoder> read_replace_decoder(const Config& part) {
  RUNG_TRY(const Finder find, read_pattern(part));
  RUNG_TRY(const std::string content, part.get_text("content"));
  RUNG_TRY(const Config pattern, part.get_object("pattern"));
  RUNG_TRY(const std::string wanted, pattern.get_text_or("String", ""));
  return Decoder{.begin = [find, content, wanted](bool in_parts) -> std::unique_ptr<DecoderStage> {
                   if (in_parts) return std::make_unique<ReplacedInParts>(Replacer(wanted, content));
                   return std::make_unique<Replaced>(find, content);
                 },
                 .takes_parts = !wanted.empty()};
}

struct StripSettings {
  std::string content;  // one character
  int64_t start = 0, stop = 0;
};

// Removes the character from both ends of each token, up to `start` and `stop` times.
class Stripped : public DecoderStage {
 public:
  explicit Stripped(StripSettings strip) : strip_(std::move(strip)) {}

  Status add(std::string token, Tokens& out) override {
    std::string_view text = token;
    for (int64_t i = 0; i < strip_.start && text.starts_with(strip_.content); ++i)
      text.remove_prefix(strip_.content.size());
    for (int64_t i = 0; i < strip_.stop && text.ends_with(strip_.content); ++i)
      text.remove_suffix(strip_.content.size());
    out.emplace_back(text);
    return {};
  }

 private:
  StripSettings strip_;
};

// Does the same to one token in parts: its end is held back while it may be the last.
class StrippedInParts : public DecoderStage {
 public:
  explicit StrippedInParts(StripSettings strip) : strip_(std::move(strip)) {}

  Status add(std::string token, Tokens& out) override {
    std::string_view part = token;
    for (; strip_.start > 0 && part.starts_with(strip_.content); --strip_.start)
      part.remove_prefix(strip_.content.size());
    if (part.empty()) return {};
    strip_.start = 0;
    held_ += part;
    size_t certain = held_.size();
    for (int64_t i = 0; i < strip_.stop && std::string_view(held_).substr(0, certain).ends_with(strip_.content); ++i)
      certain -= strip_.content.size();
    out.push_back(held_.substr(0, certain));
    held_.erase(0, certain);
    return {};
  }

 private:
  StripSettings strip_;
  std::string held_;
};

Result<Decoder> read_strip_decoder(const Config& part) {
  StripSettings strip;
  RUNG_TRY(strip.content, part.get_text("content"));
  if (count_characters(strip.content) != 1)
    return bad_file("'{}': field 'content': got '{}', wanted one character", part.what(), strip.content);
  RUNG_TRY(strip.start, part.get_int("start", {0, 1 << 20}));
  RUNG_TRY(strip.stop, part.get_int("stop", {0, 1 << 20}));
  return Decoder{.begin = [strip](bool in_parts) -> std::unique_ptr<DecoderStage> {
                   if (in_parts) return std::make_unique<StrippedInParts>(strip);
                   return std::make_unique<Stripped>(strip);
                 },
                 .takes_parts = true};
}

Decoder unchanged() {
  return each_token([](const std::string& token, bool) { return token; });
}

Result<Decoder> read_fuse(const Config&) {
  Decoder fuse = unchanged();
  fuse.joins = true;
  fuse.takes_parts = true;
  return fuse;
}

constexpr PartRow<Decoder> kDecoders[] = {
    {"ByteLevel", read_byte_level_decoder},
    {"WordPiece", read_word_piece_decoder},
    {"Metaspace", read_metaspace_decoder},
    {"BPEDecoder", read_bpe_decoder},
    {"ByteFallback", read_byte_fallback},
    {"Fuse", read_fuse},
    {"Replace", read_replace_decoder},
    {"Strip", read_strip_decoder},
    {"CTC", read_ctc_decoder},
};

}  // namespace

Result<std::vector<Decoder>> read_decoders(const Config& tokenizer) {
  if (tokenizer.contains("decoder")) return read_part_list<Decoder>(tokenizer, {"decoder", "decoders"}, kDecoders);
  return std::vector<Decoder>{
      each_token([](const std::string& token, bool is_first) { return is_first ? token : ' ' + token; })};
}

}  // namespace rung::text
