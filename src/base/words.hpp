// Numbers as a person reads them: sensible precision, units, and a dash for numbers that are not finite.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace rung::words {

inline constexpr std::string_view kNone = "–";  // stands where a number is unknown or not finite

std::string fixed(double value, int decimals);          // "1,234.50"; beyond a million "1.23e7"
std::string significant(double value, int digits = 3);  // "40.1", "9.38", "0.0123", "1,234", "1.23e-7"
std::string scientific(double value);                   // an error: "3.1e-7", "0"
std::string percent(double fraction);                   // "62 %", "4.1 %", "<0.1 %"
std::string ratio(double value);                        // "1.523", "128"
std::string duration_ms(double ms);                     // "9.38 ms", "84.2 µs", "12.5 s"
std::string megabytes(double mb);                       // "90.9 MB", "1.4 GB"
std::string count(long value);                          // "3,000"
// Returns "1 run", "3,000 runs", "0 runs"; `several` is the plural if it is not `one` with an s: "2 matrices".
std::string counted(long value, std::string_view one, std::string_view several = {});
int decimals_for(std::span<const double> column);  // leaves the least positive value three digits; at most 4

}  // namespace rung::words
