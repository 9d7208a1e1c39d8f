// Matches labels with scopes, word by word.
// SPDX-License-Identifier: Apache-2.0
#include "ir/scope.hpp"

namespace rung {

std::string_view take_word(std::string_view& text) {
  size_t dot = text.find('.');
  std::string_view word = text.substr(0, dot);
  text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
  return word;
}

bool covers(std::string_view scope, std::string_view label) {
  while (!scope.empty()) {
    if (label.empty()) return false;
    std::string_view wanted = take_word(scope), word = take_word(label);
    if (wanted != "*" && wanted != word) return false;
  }
  return true;
}

}  // namespace rung
