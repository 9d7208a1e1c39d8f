// Numbers as a person reads them.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rung::words {
namespace {

// Returns "1.23e-7": no leading zero or plus in the exponent, which fmt would write as "1.23e-07".
std::string short_exponent(double value, int decimals) {
  std::string text = fmt::format("{:.{}e}", value, decimals);
  size_t e = text.find('e');
  int exponent = std::stoi(text.substr(e + 1));
  return fmt::format("{}e{}", text.substr(0, e), exponent);
}

std::string with_separators(std::string text) {
  size_t end = std::min(text.find('.'), text.size()), begin = text.starts_with('-') ? 1 : 0;
  for (size_t i = end; i > begin + 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

int magnitude(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))); }

}  // namespace

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::string(kNone);
  if (std::abs(value) >= 1e7) return short_exponent(value, 2);
  return with_separators(fmt::format("{:.{}f}", value, decimals));
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return std::string(kNone);
  if (value == 0) return "0";
  // The value is rounded first: 9.996 has three digits as 10.0, not as 10.00.
  double rounded = std::stod(fmt::format("{:.{}e}", value, digits - 1));
  int m = magnitude(rounded);
  if (m < -4 || m >= 7) return short_exponent(value, digits - 1);
  return with_separators(fmt::format("{:.{}f}", rounded, std::max(0, digits - 1 - m)));
}

std::string scientific(double value) {
  if (!std::isfinite(value)) return std::string(kNone);
  return value == 0 ? "0" : short_exponent(value, 1);
}

std::string percent(double fraction) {
  if (!std::isfinite(fraction)) return std::string(kNone);
  double value = fraction * 100;
  if (value == 0) return "0 %";
  if (std::abs(value) < 0.1) return value > 0 ? "<0.1 %" : "0 %";
  return fixed(value, std::abs(value) < 9.95 ? 1 : 0) + " %";
}

std::string ratio(double value) { return std::abs(value) < 100 ? fixed(value, 3) : significant(value); }

std::string duration_ms(double ms) {
  if (!std::isfinite(ms)) return std::string(kNone);
  if (ms == 0) return "0 ms";
  if (std::abs(ms) < 0.9995) return significant(ms * 1e3) + " µs";
  return std::abs(ms) < 999.5 ? significant(ms) + " ms" : significant(ms / 1e3) + " s";
}

std::string megabytes(double mb) {
  if (!std::isfinite(mb)) return std::string(kNone);
  return mb < 999.5 ? significant(mb) + " MB" : significant(mb / 1e3) + " GB";
}

std::string count(long value) { return with_separators(fmt::format("{}", value)); }

std::string counted(long value, std::string_view one, std::string_view several) {
  if (value == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", count(value), one) : fmt::format("{} {}", count(value), several);
}

int decimals_for(std::span<const double> column) {
  double least = 0;
  for (double v : column)
    if (std::isfinite(v) && v > 0 && (least == 0 || v < least)) least = v;
  return least == 0 ? 0 : std::clamp(2 - magnitude(least), 0, 4);
}

}  // namespace rung::words
