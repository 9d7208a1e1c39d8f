// Printable bytes of Latin-1 stand for themselves; the others, in their order, for the characters from U+0100 on.
// SPDX-License-Identifier: Apache-2.0
#include "text/byte_alphabet.hpp"

#include <array>

namespace rung::text {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

constexpr std::array<CodePoint, 256> make_alphabet() {
  std::array<CodePoint, 256> alphabet{};
  CodePoint next = 0x100;
  for (int byte = 0; byte < 256; ++byte) alphabet[static_cast<size_t>(byte)] = stands_for_itself(byte) ? byte : next++;
  return alphabet;
}
constexpr auto kAlphabet = make_alphabet();

}  // namespace

// Each character of the alphabet has one or two bytes of UTF-8.
std::string in_byte_alphabet(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 2);
  for (char byte : bytes) {
    const CodePoint c = kAlphabet[static_cast<unsigned char>(byte)];
    if (c >= 0x80) text += static_cast<char>(0xc0 | c >> 6);
    text += static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3f));
  }
  return text;
}

std::optional<char> byte_of(CodePoint c) {
  for (size_t byte = 0; byte < kAlphabet.size(); ++byte)
    if (kAlphabet[byte] == c) return static_cast<char>(byte);
  return std::nullopt;
}

}  // namespace rung::text
