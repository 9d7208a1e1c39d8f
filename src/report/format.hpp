// Numbers and words as a person reads them: sensible precision, units, and a dash for what is not a number.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rung::report {

// What a device's durations are: an emulator has no time, and counts wave instructions (GpuInfo::counts_instructions).
enum class Clock : uint8_t { time, instructions };
Clock clock_of(std::string_view device);  // by its fingerprint, as results have it

inline constexpr std::string_view kNone = "–";  // what stands where a number is unknown or not finite

std::string fixed(double value, int decimals);          // "1,234.50"; beyond a million "1.23e7"
std::string significant(double value, int digits = 3);  // "40.1", "9.38", "0.0123", "1,234", "1.23e-7"
std::string scientific(double value);                   // an error: "3.1e-7", "0"
std::string percent(double fraction);                   // "62 %", "4.1 %", "<0.1 %"
std::string ratio(double value);                        // "1.523", "128"
// "9.38 ms", "84.2 µs", "12.5 s"; "9,380 instructions", "84", "12.5 million"
std::string duration_ms(double ms, Clock clock = Clock::time);
std::string duration_us(double us, Clock clock = Clock::time);
std::string_view ms_word(Clock clock);  // heads a column of milliseconds: "ms", "thousand instructions"
std::string_view us_word(Clock clock);
std::string megabytes(double mb);                  // "90.9 MB", "1.4 GB"
std::string count(long value);                     // "3,000"
int decimals_for(std::span<const double> column);  // so that the least positive value keeps three digits; at most 4

// One line of valid UTF-8 without control characters: what is neither becomes U+FFFD, line breaks become spaces.
std::string printable(std::string_view text);
size_t display_width(std::string_view text);               // code points of valid UTF-8
std::string shorten(std::string_view text, size_t width);  // at most `width` columns; "…" ends what was cut

}  // namespace rung::report
