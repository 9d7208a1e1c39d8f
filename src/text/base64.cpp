// Reads four characters for three bytes.
// SPDX-License-Identifier: Apache-2.0
#include "text/base64.hpp"

#include <cstdint>

namespace rung::text {

Result<std::string> decode_base64(std::string_view text, const std::string& what) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return bad_file("'{}': got {} characters, wanted a multiple of four", what, text.size());
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int held = 0;  // bits that are no byte yet
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t value = alphabet.find(text[at]);
    if (value == std::string_view::npos) return bad_file("'{}': byte {} is not Base64", what, at);
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

}  // namespace rung::text
