// Regular expressions as tokenizers' files write them: Oniguruma's dialect, matched by PCRE2.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "text/span.hpp"

namespace rung::text {

// A compiled pattern; copies share it, and any number of threads may match with it.
class Regex {
 public:
  // Errors: not a pattern, with the place; a construct whose meaning in PCRE2 differs.
  static Result<Regex> make(std::string_view pattern);

  // Returns matches and what stands between them: they cover the text, which is valid UTF-8. Errors: the pattern takes
  // more steps on this text than any sensible pattern does.
  Result<Spans> spans(std::string_view text) const;

 private:
  struct Code;
  explicit Regex(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;
};

// Characters of words, as contents of a class in brackets: letters, marks, digits, connectors and joiners.
inline constexpr std::string_view kWordCharacters = R"(\p{Alphabetic}\p{L}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d})";
// Returns whether a character, given as UTF-8, is one of them.
bool is_of_word(std::string_view character);

// Returns the pattern in PCRE2's dialect.
Result<std::string> translate_pattern(std::string_view pattern);

}  // namespace rung::text
