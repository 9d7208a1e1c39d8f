// Decoders of tokens that stand for bytes, which may be parts of characters.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>
#include <string_view>

#include "text/byte_alphabet.hpp"
#include "text/decoders/decoders.hpp"
#include "text/unicode.hpp"

namespace rung::text {
namespace {

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

// Holds a character back that is begun and not yet complete.
class ByteLevel : public DecoderStage {
 public:
  Status add(std::string token, Tokens& out) override {
    bytes_ += bytes_of_token(token);
    const size_t complete = bytes_.size() - bytes_of_begun_character(bytes_);
    out.push_back(decoded_utf8(bytes_.substr(0, complete)));
    bytes_.erase(0, complete);
    return {};
  }
  Status end(Tokens& out) override {
    out.push_back(decoded_utf8(bytes_));
    return {};
  }

 private:
  std::string bytes_;
};

// Returns the byte of a token such as "<0x41>".
std::optional<char> fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

// A run of bytes is one text, or U+FFFD for each byte if it is not UTF-8: until it ends, nothing of it is certain.
class ByteFallback : public DecoderStage {
 public:
  Status add(std::string token, Tokens& out) override {
    if (const auto byte = fallback_byte(token)) {
      run_ += *byte;
      return {};
    }
    RUNG_CHECK(end(out));
    out.push_back(std::move(token));
    return {};
  }
  Status end(Tokens& out) override {
    if (run_.empty()) return {};
    if (as_utf8(run_) == run_)
      out.push_back(run_);
    else
      out.insert(out.end(), run_.size(), "\xef\xbf\xbd");
    run_.clear();
    return {};
  }

 private:
  std::string run_;
};

}  // namespace

Result<Decoder> read_byte_level_decoder(const Config&) {
  return Decoder{.begin = [](bool) { return std::make_unique<ByteLevel>(); }, .joins = true};
}

Result<Decoder> read_byte_fallback(const Config&) {
  return Decoder{.begin = [](bool) { return std::make_unique<ByteFallback>(); }};
}

}  // namespace rung::text
