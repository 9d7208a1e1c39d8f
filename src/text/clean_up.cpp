// Replaces one spelling after the other, in the published library's order.
// SPDX-License-Identifier: Apache-2.0
#include "text/clean_up.hpp"

#include <utility>

namespace rung::text {
namespace {

constexpr std::pair<const char*, const char*> kSpellings[] = {
    {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

}  // namespace

CleanUp::CleanUp() {
  for (const auto& [from, to] : kSpellings) replacers_.emplace_back(from, to);
}

std::string CleanUp::add(std::string part) {
  for (Replacer& replacer : replacers_) part = replacer.add(part);
  return part;
}

std::string CleanUp::end() {
  std::string held;
  for (Replacer& replacer : replacers_) {
    held = replacer.add(held);
    held += replacer.end();
  }
  return held;
}

}  // namespace rung::text
