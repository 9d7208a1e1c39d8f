// Formats durations by a device's clock, and makes text safe to print.
// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>

#include "device/gpu/gpu_info.hpp"
#include "kernels/device_word.hpp"

namespace rung::report {
namespace {

bool is_control(utf8proc_int32_t c) {
  bool bidi = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);  // would reorder the text after it
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || bidi;
}

}  // namespace

Clock clock_of(std::string_view device) { return counts_instructions(device) ? Clock::instructions : Clock::time; }

std::string_view ms_word(Clock clock) { return clock == Clock::time ? "ms" : "thousand instructions"; }
std::string_view us_word(Clock clock) { return clock == Clock::time ? "µs" : "instructions"; }

std::string duration_ms(double ms, Clock clock) {
  if (clock == Clock::instructions && std::isfinite(ms)) {
    const double instructions = ms * gpu::kInstructionsPerMs;
    return std::abs(instructions) < 999'999.5 ? count(std::lround(instructions)) + " instructions"
                                              : significant(instructions * 1e-6) + " million instructions";
  }
  return words::duration_ms(ms);
}

std::string duration_us(double us, Clock clock) { return duration_ms(us / 1e3, clock); }

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto* rest = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i);
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t bytes = utf8proc_iterate(rest, static_cast<utf8proc_ssize_t>(text.size() - i), &point);
    const bool space = point == '\n' || point == '\t' || point == '\r';
    if (bytes <= 0 || (is_control(point) && !space))
      out += "\xef\xbf\xbd";
    else if (space)
      out += ' ';
    else
      out.append(text.substr(i, static_cast<size_t>(bytes)));
    i += static_cast<size_t>(std::max<utf8proc_ssize_t>(bytes, 1));
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
