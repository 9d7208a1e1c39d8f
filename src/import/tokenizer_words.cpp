// Splits text into words by the published library's classes of characters; utf8proc decomposes letters.
// SPDX-License-Identifier: Apache-2.0
#include "import/tokenizer_words.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace rung {
namespace {

using CodePoint = utf8proc_int32_t;
using Text = std::vector<CodePoint>;

constexpr CodePoint kReplacement = 0xfffd;

Text decode(std::string_view bytes) {
  Text text;
  auto data = reinterpret_cast<const utf8proc_uint8_t*>(bytes.data());
  for (size_t at = 0; at < bytes.size();) {
    CodePoint c = 0;
    auto length = utf8proc_iterate(data + at, static_cast<utf8proc_ssize_t>(bytes.size() - at), &c);
    text.push_back(length > 0 ? c : kReplacement);
    at += length > 0 ? static_cast<size_t>(length) : 1;
  }
  return text;
}

void append(std::string& out, CodePoint c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  auto length = utf8proc_encode_char(c, bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(length));
}

struct CodeRange {
  CodePoint first, last;
};
#include "import/word_tables.inc"

template <size_t count>
bool is_in(const CodeRange (&table)[count], CodePoint c) {
  auto after = std::upper_bound(std::begin(table), std::end(table), c,
                                [](CodePoint code, const CodeRange& range) { return code < range.first; });
  return after != std::begin(table) && c <= std::prev(after)->last;
}

bool is_space(CodePoint c) {
  if ((c >= '\t' && c <= '\r') || c == 0x85) return true;
  auto category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

// Ideographs, but not kana or hangul, which are written with spaces or learnt as pieces. The published library, with
// whose ids models are trained, leaves out the first 256 of extension E, and all later extensions.
constexpr CodeRange kIdeographs[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},  {0x20000, 0x2a6df},
                                     {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};

// Letters that Unicode decomposes only in versions after the published library's.
constexpr CodeRange kWhole[] = {{0x105c9, 0x105c9}, {0x105e4, 0x105e4}, {0x11383, 0x113c8},
                                {0x11938, 0x11938}, {0x16121, 0x16128}, {0x16d68, 0x16d6a}};

Text clean(const Text& text) {
  Text out;
  for (CodePoint c : text)
    if (c != 0 && !is_in(kDropped, c)) out.push_back(is_space(c) ? ' ' : c);
  return out;
}

Text separate_cjk(const Text& text) {
  Text out;
  for (CodePoint c : text) {
    if (is_in(kIdeographs, c))
      out.insert(out.end(), {' ', c, ' '});
    else
      out.push_back(c);
  }
  return out;
}

Text strip_accents(const Text& text) {
  Text out;
  std::array<CodePoint, 8> parts{};  // the longest canonical decomposition has 4
  for (CodePoint c : text) {
    if (is_in(kWhole, c)) {
      out.push_back(c);
      continue;
    }
    int boundary = 0;
    auto count = utf8proc_decompose_char(c, parts.data(), parts.size(), UTF8PROC_DECOMPOSE, &boundary);
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      CodePoint part = parts[static_cast<size_t>(i)];
      if (!is_in(kMarks, part)) out.push_back(part);
    }
  }
  return out;
}

Text lower_case(const Text& text) {
  Text out;
  for (CodePoint c : text) {
    if (c == 0x130)  // the one letter whose lower case is two code points: i and a dot above
      out.insert(out.end(), {'i', 0x307});
    else
      out.push_back(utf8proc_tolower(c));
  }
  return out;
}

}  // namespace

std::vector<std::string> split_words(std::string_view bytes, const WordRules& rules) {
  Text text = decode(bytes);
  if (rules.clean_text) text = clean(text);
  if (rules.split_cjk) text = separate_cjk(text);
  if (rules.strip_accents) text = strip_accents(text);
  if (rules.lower_case) text = lower_case(text);
  std::vector<std::string> words;
  bool open = false;  // whether the last word may still grow
  for (CodePoint c : text) {
    if (is_space(c)) {
      open = false;
      continue;
    }
    bool alone = is_in(kPunctuation, c);
    if (!open || alone) words.emplace_back();
    append(words.back(), c);
    open = !alone;
  }
  return words;
}

}  // namespace rung
