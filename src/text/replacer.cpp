// Finds a string across the parts of a text.
// SPDX-License-Identifier: Apache-2.0
#include "text/replacer.hpp"

#include <algorithm>
#include <utility>

namespace rung::text {

size_t begun_at_end(std::string_view text, std::string_view wanted) {
  for (size_t length = std::min(text.size(), wanted.size() - 1); length > 0; --length)
    if (wanted.starts_with(text.substr(text.size() - length))) return length;
  return 0;
}

std::string Replacer::add(std::string_view part) {
  held_ += part;
  std::string out;
  size_t at = 0;
  for (size_t found = held_.find(wanted_); found != held_.npos; found = held_.find(wanted_, at)) {
    out.append(held_, at, found - at).append(content_);
    at = found + wanted_.size();
  }
  const size_t certain = held_.size() - begun_at_end(std::string_view(held_).substr(at), wanted_);
  out.append(held_, at, certain - at);
  held_.erase(0, certain);
  return out;
}

std::string Replacer::end() { return std::exchange(held_, std::string()); }

std::string with_replaced(std::string_view text, const std::string& wanted, const std::string& content) {
  Replacer replacer(wanted, content);
  std::string out = replacer.add(text);
  return out += replacer.end();
}

}  // namespace rung::text
