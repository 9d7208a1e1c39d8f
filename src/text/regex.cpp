// Compiles and runs patterns with PCRE2.
// SPDX-License-Identifier: Apache-2.0
#include "text/regex.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "text/unicode.hpp"

namespace rung::text {
namespace {

// A sensible pattern takes a few steps for each character; some take exponentially many on texts made for that.
constexpr uint32_t kMostSteps = 10'000'000, kMostDepth = 100'000, kMostHeapKib = 64 << 10;
constexpr size_t kMostPatternBytes = 1 << 16;

// A group that is nested deeper is no pattern of a tokenizer, and PCRE2 compiles by recursion.
constexpr uint32_t kMostNesting = 100;

struct Free {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string words_of(int error) {
  std::array<PCRE2_UCHAR, 256> words{};
  pcre2_get_error_message(error, words.data(), words.size());
  return reinterpret_cast<const char*>(words.data());
}

constexpr auto kNoMemory = "not enough memory for a pattern";

}  // namespace

struct Regex::Code {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = pcre2_match_context_create(nullptr);

  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    pcre2_code_free(code);
    pcre2_match_context_free(context);
  }

  // Returns PCRE2's result for a search from byte `at` on.
  int search(std::string_view text, size_t at, pcre2_match_data* data) const {
    const int found = pcre2_match(code, units(text), text.size(), at, PCRE2_NO_UTF_CHECK, data, context);
    if (found != PCRE2_ERROR_JIT_STACKLIMIT) return found;
    // Compiled code has a small stack; the interpreter takes memory as it needs it, up to its limit.
    return pcre2_match(code, units(text), text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, context);
  }
};

Result<Regex> Regex::make(std::string_view pattern) {
  if (pattern.size() > kMostPatternBytes)
    return bad_file("got a pattern of {} bytes, wanted at most {}", pattern.size(), kMostPatternBytes);
  RUNG_TRY(const std::string own, translate_pattern(pattern));
  const Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
  auto code = std::make_shared<Code>();
  if (!context || !code->context) return no_memory("{}", kNoMemory);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), kMostNesting);
  pcre2_set_match_limit(code->context, kMostSteps);
  pcre2_set_depth_limit(code->context, kMostDepth);
  pcre2_set_heap_limit(code->context, kMostHeapKib);
  constexpr uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  size_t place = 0;
  code->code = pcre2_compile(units(own), own.size(), options, &error, &place, context.get());
  if (!code->code) return bad_file("got '{}': {} at byte {} of '{}'", pattern, words_of(error), place, own);
  // Where no memory may be executed, the interpreter matches the same.
  pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE);
  return Regex(std::move(code));
}

Result<Spans> Regex::spans(std::string_view text) const {
  const Owned<pcre2_match_data> data(pcre2_match_data_create(1, nullptr));
  if (!data) return no_memory("{}", kNoMemory);
  Spans spans;
  size_t covered = 0;
  bool is_first = true;
  for (size_t at = 0; at <= text.size();) {
    const int found = code_->search(text, at, data.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) return mismatch("a pattern of the tokenizer does not suit this text: {}", words_of(found));
    const size_t* match = pcre2_get_ovector_pointer(data.get());
    const size_t begin = match[0], end = match[1];
    // An empty match right after another one is none; the search goes on behind the next character.
    if (begin >= end && !is_first && begin == covered) {
      at = end + (end < text.size() ? bytes_of_character(text[end]) : 1);
      continue;
    }
    if (begin < covered || end < begin) return mismatch("a pattern of the tokenizer matches backwards on this text");
    if (begin > covered) spans.push_back({covered, begin, false});
    spans.push_back({begin, end, true});
    covered = at = end;
    is_first = false;
  }
  if (covered < text.size()) spans.push_back({covered, text.size(), false});
  return spans;
}

bool is_of_word(std::string_view character) {
  static const Result<Regex> word = Regex::make(fmt::format("[{}]", kWordCharacters));
  if (!word) return false;
  const auto spans = word->spans(character);
  return spans && !spans->empty() && spans->front().matched;
}

}  // namespace rung::text
