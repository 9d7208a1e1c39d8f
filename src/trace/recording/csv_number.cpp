// Marks are points and commas. A last one that occurs only once begins a fraction; others separate groups of three.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/csv_number.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/trimmed.hpp"

namespace rung::trace {
namespace {

constexpr size_t kLongest = 64;
constexpr std::string_view kMarks = ".,";

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<int64_t> plain_number(std::string_view digits) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// Turns "8.819.330" into "8819330"; empty: its groups are not of three digits.
std::string without_groups(std::string_view text) {
  std::string digits;
  const size_t first = text.find_first_of(kMarks);
  if (first == std::string_view::npos) return all_digits(text) ? std::string(text) : std::string();
  if (first == 0 || first > 3 || !all_digits(text.substr(0, first))) return {};
  digits = text.substr(0, first);
  for (size_t at = first; at < text.size(); at += 4) {
    const std::string_view group = text.substr(at + 1, 3);
    if (text[at] != text[first] || group.size() != 3 || !all_digits(group)) return {};
    digits += group;
  }
  return digits;
}

}  // namespace

std::optional<int64_t> whole_number(std::string_view text) {
  if (const auto value = plain_number(text)) return value;
  text = trimmed(text, " \t");
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  std::string_view whole = text, fraction;
  const size_t last = text.find_last_of(kMarks);
  if (last != std::string_view::npos && text.find(text[last]) == last) {
    whole = text.substr(0, last);
    fraction = text.substr(last + 1);
  }
  const std::string digits = without_groups(whole);
  if (digits.empty() || !all_digits(fraction)) return std::nullopt;
  auto value = plain_number(digits);
  if (!value || *value == INT64_MAX) return std::nullopt;
  if (!fraction.empty() && fraction.front() >= '5') ++*value;
  return negative ? -*value : *value;
}

}  // namespace rung::trace
