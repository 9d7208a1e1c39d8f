// Looks characters up: utf8proc has the normal forms and lower case; word_tables.inc has where the library is behind.
// SPDX-License-Identifier: Apache-2.0
#include "text/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace rung::text {
namespace {

constexpr CodePoint kReplacement = 0xfffd;

struct CodeRange {
  CodePoint first, last;
};
struct LowerRange {
  CodePoint first, last, distance;  // to the lower case
};
#include "text/word_tables.inc"

// Ideographs, but not kana or hangul, which are written with spaces or learnt as pieces. The published library, with
// whose ids models are trained, leaves out the first 256 of extension E, and all later extensions.
constexpr CodeRange kIdeographs[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},  {0x20000, 0x2a6df},
                                     {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};

template <class Range, size_t count>
const Range* range_of(const Range (&table)[count], CodePoint c) {
  auto after = std::upper_bound(std::begin(table), std::end(table), c,
                                [](CodePoint code, const Range& range) { return code < range.first; });
  return after != std::begin(table) && c <= std::prev(after)->last ? std::prev(after) : nullptr;
}

template <size_t count>
bool is_in(const CodeRange (&table)[count], CodePoint c) {
  return range_of(table, c) != nullptr;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Returns the number of bytes of the character that a text begins with; 0 if it is not UTF-8.
size_t valid_bytes(std::string_view text) {
  CodePoint c = 0;
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = utf8proc_iterate(data, static_cast<utf8proc_ssize_t>(text.size()), &c);
  return length > 0 ? static_cast<size_t>(length) : 0;
}

// Returns whether some character begins with these bytes and has more.
bool begins_character(std::string_view bytes) {
  constexpr std::string_view tails = "\x80\x90\xa0\xbf";  // a byte of each class of second bytes
  for (char tail : tails)
    for (size_t missing = 1; bytes.size() + missing <= 4; ++missing)
      if (valid_bytes(std::string(bytes).append(missing, tail)) == bytes.size() + missing) return true;
  return false;
}

// Returns the number of bytes that begin a character which does not go on: the most that some character begins with.
size_t begun_bytes(std::string_view text) {
  for (size_t bytes = std::min<size_t>(text.size(), 3); bytes > 1; --bytes)
    if (begins_character(text.substr(0, bytes))) return bytes;
  return 1;
}

// Appends the normal form of a text without characters that the library leaves whole.
void append_form(std::string_view text, utf8proc_option_t options, std::string& out) {
  if (is_ascii(text)) {
    out += text;
    return;
  }
  utf8proc_uint8_t* made = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &made, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
  if (length >= 0)
    out.append(reinterpret_cast<const char*>(made), static_cast<size_t>(length));
  else
    out += text;  // utf8proc refuses only bytes that are not UTF-8, and lack of memory
}

utf8proc_option_t options_of(NormalForm form) {
  const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
  const bool is_compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                        (is_compatible ? UTF8PROC_COMPAT : 0));
}

}  // namespace

CodePoint next_character(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<CodePoint>(static_cast<unsigned char>(text[at + i])); };
  const size_t size = bytes_of_character(text[at]);
  CodePoint c = byte(0);
  if (size == 2) c = (c & 0x1f) << 6 | (byte(1) & 0x3f);
  if (size == 3) c = (c & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  if (size == 4) c = (c & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
  at += size;
  return c;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void append(std::string& text, CodePoint c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  auto length = utf8proc_encode_char(c, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(length));
}

std::string as_utf8(std::string_view bytes) {
  if (is_ascii(bytes)) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const size_t good = valid_bytes(bytes.substr(at));
    if (good == 0) append(text, kReplacement);
    text.append(bytes, at, good);
    at += std::max<size_t>(good, 1);
  }
  return text;
}

std::string decoded_utf8(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    const size_t good = valid_bytes(bytes.substr(at));
    if (good == 0) append(text, kReplacement);
    text.append(bytes, at, good);
    at += good > 0 ? good : begun_bytes(bytes.substr(at));
  }
  return text;
}

size_t bytes_of_begun_character(std::string_view bytes) {
  for (size_t begun = 1; begun <= std::min<size_t>(bytes.size(), 3); ++begun)
    if (begins_character(bytes.substr(bytes.size() - begun))) return begun;
  return 0;
}

bool is_space(CodePoint c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  if (c == 0x85) return true;
  auto category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}
bool is_punctuation(CodePoint c) { return is_in(kPunctuation, c); }
bool is_number(CodePoint c) { return is_in(kNumbers, c); }
bool is_dropped(CodePoint c) { return c == 0 || is_in(kDropped, c); }
bool is_ideograph(CodePoint c) { return is_in(kIdeographs, c); }
bool is_nonspacing_mark(CodePoint c) { return is_in(kNonspacingMarks, c); }
bool is_mark(CodePoint c) { return is_in(kMarks, c); }

void append_lower(std::string& text, CodePoint c) {
  if (c == 0x130) {  // the one letter whose lower case is two code points: i and a dot above
    append(text, 'i');
    return append(text, 0x307);
  }
  const LowerRange* later = range_of(kLaterLower, c);
  append(text, later ? c + later->distance : utf8proc_tolower(c));
}

// Cuts the text at the characters that the library leaves whole: to it they begin a letter of their own.
std::string normal_form(std::string_view text, NormalForm form) {
  const utf8proc_option_t options = options_of(form);
  std::string out;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    if (!is_in(kWhole, next_character(text, at))) continue;
    append_form(text.substr(begin, here - begin), options, out);
    out.append(text, here, at - here);
    begin = at;
  }
  append_form(text.substr(begin), options, out);
  return out;
}

}  // namespace rung::text
