// Searches backwards, longest parts first: a text has few thousand tokens, and a run reads millions of weights.
// SPDX-License-Identifier: Apache-2.0
#include "session/prompt_lookup.hpp"

#include <algorithm>

namespace rung {
namespace {

constexpr size_t kLongest = 4, kShortest = 2;  // tokens that two places must have alike

std::vector<int64_t> drafts_from(std::span<const int64_t> text, size_t place, size_t most) {
  std::vector<int64_t> drafts;
  for (size_t i = place; drafts.size() < most; ++i)
    drafts.push_back(i < text.size() ? text[i] : drafts[i - text.size()]);
  return drafts;
}

}  // namespace

std::vector<int64_t> look_up(std::span<const int64_t> text, size_t most) {
  for (size_t length = kLongest; length >= kShortest; --length) {
    if (text.size() <= length) continue;
    const auto end = text.last(length);
    for (size_t place = text.size() - length; place-- > 0;)
      if (std::ranges::equal(text.subspan(place, length), end)) return drafts_from(text, place + length, most);
  }
  return {};
}

}  // namespace rung
