// Numbers and words as a person reads them.
// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "device/gpu/gpu_info.hpp"
#include "kernels/device_word.hpp"

namespace rung::report {
namespace {

// "1.23e-7": no leading zero or plus in the exponent, which fmt would write as "1.23e-07".
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

bool is_control(uint32_t c) {
  bool bidi = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);  // would reorder what follows on screen
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || bidi;
}

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

CodePoint decode(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                 : lead >= 0xe0 && lead < 0xf0 ? 3
                 : lead >= 0xc2 && lead < 0xe0 ? 2
                                               : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  uint32_t value = lead & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // below: an overlong form
  bool surrogate = value >= 0xd800 && value < 0xe000;
  return value < kLeast[bytes] || surrogate || value > 0x10ffff ? CodePoint{} : CodePoint{value, bytes};
}

}  // namespace

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::string(kNone);
  if (std::abs(value) >= 1e7) return short_exponent(value, 2);
  return with_separators(fmt::format("{:.{}f}", value, decimals));
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return std::string(kNone);
  if (value == 0) return "0";
  // Rounding first: 9.996 has three digits as 10.0, not as 10.00.
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

Clock clock_of(std::string_view device) { return counts_instructions(device) ? Clock::instructions : Clock::time; }

std::string_view ms_word(Clock clock) { return clock == Clock::time ? "ms" : "thousand instructions"; }
std::string_view us_word(Clock clock) { return clock == Clock::time ? "µs" : "instructions"; }

std::string duration_ms(double ms, Clock clock) {
  if (!std::isfinite(ms)) return std::string(kNone);
  if (clock == Clock::instructions) {
    const double instructions = ms * gpu::kInstructionsPerMs;
    return std::abs(instructions) < 999'999.5 ? count(std::lround(instructions)) + " instructions"
                                              : significant(instructions * 1e-6) + " million instructions";
  }
  if (ms == 0) return "0 ms";
  if (std::abs(ms) < 0.9995) return significant(ms * 1e3) + " µs";
  return std::abs(ms) < 999.5 ? significant(ms) + " ms" : significant(ms / 1e3) + " s";
}

std::string duration_us(double us, Clock clock) { return duration_ms(us / 1e3, clock); }

std::string megabytes(double mb) {
  if (!std::isfinite(mb)) return std::string(kNone);
  return mb < 999.5 ? significant(mb) + " MB" : significant(mb / 1e3) + " GB";
}

std::string count(long value) { return with_separators(fmt::format("{}", value)); }

int decimals_for(std::span<const double> column) {
  double least = 0;
  for (double v : column)
    if (std::isfinite(v) && v > 0 && (least == 0 || v < least)) least = v;
  return least == 0 ? 0 : std::clamp(2 - magnitude(least), 0, 4);
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    CodePoint point = decode(text.substr(i));
    bool space = point.value == '\n' || point.value == '\t' || point.value == '\r';
    if (point.bytes == 0 || (is_control(point.value) && !space))
      out += "\xef\xbf\xbd";
    else if (space)
      out += ' ';
    else
      out.append(text.substr(i, point.bytes));
    i += std::max<size_t>(point.bytes, 1);
  }
  return out;
}

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string shorten(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  size_t columns = 0, i = 0;
  for (; i < text.size(); ++i) {
    if ((text[i] & 0xc0) == 0x80) continue;
    if (++columns == width) break;
  }
  return std::string(text.substr(0, i)) + "…";
}

}  // namespace rung::report
