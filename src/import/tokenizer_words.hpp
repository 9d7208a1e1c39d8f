// BERT's basic tokenisation: splits raw text into words, before any vocabulary is looked at.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rung {

struct WordRules {
  bool clean_text = true;  // drop control characters, make every white space a blank
  bool split_cjk = true;   // each CJK ideograph is a word
  bool lower_case = true;
  bool strip_accents = true;  // decompose (NFD) and drop combining marks
};

// Returns UTF-8 words, split at white space, with each punctuation character a word of its own. Bytes that are not
// UTF-8 count as U+FFFD, which cleaning drops.
std::vector<std::string> split_words(std::string_view text, const WordRules& rules);

}  // namespace rung
