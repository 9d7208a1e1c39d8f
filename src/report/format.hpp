// Formats numbers for reports: the words of base/words.hpp, durations by a device's clock, text made safe to print.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/words.hpp"

namespace rung::report {

using namespace words;
using words::duration_ms;

// The unit of a device's durations: an emulator has no time and counts wave instructions
// (GpuInfo::counts_instructions).
enum class Clock : uint8_t { time, instructions };
Clock clock_of(std::string_view device);  // from the fingerprint in results

// Returns "9.38 ms", "84.2 µs", "12.5 s"; for instructions "9,380 instructions", "84", "12.5 million".
std::string duration_ms(double ms, Clock clock);
std::string duration_us(double us, Clock clock = Clock::time);
std::string_view ms_word(Clock clock);  // heads a column of milliseconds: "ms", "thousand instructions"
std::string_view us_word(Clock clock);

// Returns one line of valid UTF-8: invalid bytes and control characters become U+FFFD, line breaks become spaces.
std::string printable(std::string_view text);
size_t display_width(std::string_view text);               // code points of valid UTF-8
std::string shorten(std::string_view text, size_t width);  // at most `width` columns; "…" ends text that was cut

}  // namespace rung::report
