// The table of decoders, with the short ones.
// SPDX-License-Identifier: Apache-2.0
#include "text/decoders/decoders.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "text/byte_alphabet.hpp"
#include "text/metaspace.hpp"
#include "text/part_list.hpp"
#include "text/pattern.hpp"
#include "text/unicode.hpp"

namespace rung::text {
namespace {

// Returns a token with each match of a finder replaced.
Result<std::string> replaced(const std::string& token, const Finder& find, std::string_view content) {
  RUNG_TRY(const Spans spans, find(token));
  std::string out;
  for (const Span& span : spans)
    out += span.matched ? content : std::string_view(token).substr(span.begin, span.end - span.begin);
  return out;
}

Status join(Tokens& tokens) {
  std::string all;
  for (const std::string& token : tokens) all += token;
  tokens = {std::move(all)};
  return {};
}

// A token with a character outside of the alphabet stands for its own bytes.
std::string bytes_of_token(const std::string& token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const auto byte = byte_of(next_character(token, at));
    if (!byte) return token;
    bytes += *byte;
  }
  return bytes;
}

Result<Decoder> read_byte_level_decoder(const Config&) {
  return [](Tokens& tokens) -> Status {
    for (std::string& token : tokens) token = bytes_of_token(token);
    RUNG_CHECK(join(tokens));
    tokens[0] = decoded_utf8(tokens[0]);
    return {};
  };
}

// Returns the byte of a token such as "<0x41>".
std::optional<char> fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

// A run of bytes is one text, or U+FFFD for each byte if it is not UTF-8.
void add_run(std::string& bytes, Tokens& tokens) {
  if (as_utf8(bytes) == bytes)
    tokens.push_back(bytes);
  else
    tokens.insert(tokens.end(), bytes.size(), "\xef\xbf\xbd");
  bytes.clear();
}

Result<Decoder> read_byte_fallback(const Config&) {
  return [](Tokens& tokens) -> Status {
    Tokens out;
    std::string run;
    for (std::string& token : tokens) {
      if (const auto byte = fallback_byte(token)) {
        run += *byte;
        continue;
      }
      if (!run.empty()) add_run(run, out);
      out.push_back(std::move(token));
    }
    if (!run.empty()) add_run(run, out);
    tokens = std::move(out);
    return {};
  };
}

// The end of a word is a blank but at the end of the text.
Result<Decoder> read_bpe_decoder(const Config& part) {
  RUNG_TRY(const std::string word_end, part.get_text_or("suffix", "</w>"));
  if (word_end.empty()) return bad_file("'{}': field 'suffix': got an empty string", part.what());
  return [word_end](Tokens& tokens) -> Status {
    const Finder find = [&](std::string_view text) -> Result<Spans> { return spans_of_string(text, word_end); };
    for (size_t i = 0; i < tokens.size(); ++i) {
      RUNG_TRY(tokens[i], replaced(tokens[i], find, i + 1 == tokens.size() ? "" : " "));
    }
    return {};
  };
}

Result<Decoder> read_replace_decoder(const Config& part) {
  RUNG_TRY(const Finder find, read_pattern(part));
  RUNG_TRY(const std::string content, part.get_text("content"));
  return [find, content](Tokens& tokens) -> Status {
    for (std::string& token : tokens) {
      RUNG_TRY(token, replaced(token, find, content));
    }
    return {};
  };
}

struct StripSettings {
  std::string content;  // one character
  int64_t start = 0, stop = 0;
};

std::string stripped(std::string_view token, const StripSettings& strip) {
  for (int64_t i = 0; i < strip.start && token.starts_with(strip.content); ++i)
    token.remove_prefix(strip.content.size());
  for (int64_t i = 0; i < strip.stop && token.ends_with(strip.content); ++i) token.remove_suffix(strip.content.size());
  return std::string(token);
}

Result<Decoder> read_strip_decoder(const Config& part) {
  StripSettings strip;
  RUNG_TRY(strip.content, part.get_text("content"));
  if (count_characters(strip.content) != 1)
    return bad_file("'{}': field 'content': got '{}', wanted one character", part.what(), strip.content);
  RUNG_TRY(strip.start, part.get_int("start", {0, 1 << 20}));
  RUNG_TRY(strip.stop, part.get_int("stop", {0, 1 << 20}));
  return [strip](Tokens& tokens) -> Status {
    for (std::string& token : tokens) token = stripped(token, strip);
    return {};
  };
}

Result<Decoder> read_fuse(const Config&) { return Decoder(join); }

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
  return std::vector<Decoder>{[](Tokens& tokens) -> Status {
    for (size_t i = 1; i < tokens.size(); ++i) tokens[i].insert(0, 1, ' ');
    return {};
  }};
}

}  // namespace rung::text
