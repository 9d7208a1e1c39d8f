// Four characters stand for three bytes.
// SPDX-License-Identifier: Apache-2.0
#include "base/base64.hpp"

#include <cstdint>

namespace rung {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

Result<std::string> decode_base64(std::string_view text, const std::string& what) {
  if (text.size() % 4 != 0) return bad_file("'{}': got {} characters, wanted a multiple of four", what, text.size());
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int held = 0;  // bits that are no byte yet
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t value = kAlphabet.find(text[at]);
    if (value == std::string_view::npos) return bad_file("'{}': byte {} is not Base64", what, at);
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  uint32_t bits = 0;
  int held = 0;  // bits that are no character yet
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (held += 8; held >= 6; held -= 6) text += kAlphabet[bits >> (held - 6) & 63];
  }
  if (held > 0) text += kAlphabet[bits << (6 - held) & 63];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

}  // namespace rung
