// Replaces a string in a text that comes in parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rung::text {

// Returns the length of the longest begin of `wanted`, short of all of it, with which a text ends.
size_t begun_at_end(std::string_view text, std::string_view wanted);

class Replacer {
 public:
  // `wanted` is not empty.
  Replacer(std::string wanted, std::string content) : wanted_(std::move(wanted)), content_(std::move(content)) {}

  // Takes the next part; returns what is certain now: an end that may begin the string is held back.
  std::string add(std::string_view part);
  std::string end();

 private:
  std::string wanted_, content_, held_;
};

// Returns a text, which is there in whole, with each place of a string replaced.
std::string with_replaced(std::string_view text, const std::string& wanted, const std::string& content);

}  // namespace rung::text
