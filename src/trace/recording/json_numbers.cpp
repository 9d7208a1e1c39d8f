// Reads digits exactly; only numbers with an exponent go through a double.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/json_numbers.hpp"

#include <charconv>
#include <cmath>

#include "trace/recording/json_cursor.hpp"

namespace rung::trace {
namespace {

constexpr double kMostUs = 100.0 * 366 * 24 * 3600 * 1e6;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<int64_t> by_double(std::string_view text) {
  double us = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  if (error != std::errc() || end != text.data() + text.size() || !(std::abs(us) < kMostUs)) return std::nullopt;
  return std::llround(us * 1e3);
}

template <class T>
std::optional<T> whole_of(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<int64_t> integer_of(std::string_view json) { return whole_of<int64_t>(inner(json)); }
std::optional<uint64_t> unsigned_of(std::string_view json) { return whole_of<uint64_t>(inner(json)); }

std::optional<int64_t> ns_of_us(std::string_view json) {
  const std::string_view text = inner(json);
  const bool negative = !text.empty() && text.front() == '-';
  size_t i = negative ? 1 : 0;
  const size_t first = i;
  int64_t ns = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    ns = ns * 10 + (text[i] - '0');
    if (ns > static_cast<int64_t>(kMostUs)) return std::nullopt;
  }
  if (i == first) return std::nullopt;
  int64_t unit = 1000;
  ns *= unit;
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && is_digit(text[i]); ++i) {
      if (unit == 1) ns += text[i] >= '5';  // the first digit beyond nanoseconds rounds
      unit /= 10;
      ns += unit * (text[i] - '0');
    }
  }
  if (i != text.size()) return by_double(text);
  return negative ? -ns : ns;
}

}  // namespace rung::trace
