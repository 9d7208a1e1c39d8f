// Splits lines into cells and reads their numbers, in one way for all formats. Independent of the locale.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/trimmed.hpp"

namespace rung::stacks {

// Splits at separators, except between double quotes; the quotes stay.
std::vector<std::string_view> cells_of(std::string_view line, char separator = ',');

inline std::string_view trimmed(std::string_view text) { return rung::trimmed(text, " \t"); }
std::string_view unquoted(std::string_view text);  // trimmed, without double quotes around it

std::optional<int64_t> whole_number(std::string_view text);  // decimal, may have blanks around it; nothing else
// Also takes a point or an exponent, and "inf" and "nan", which stacks write for times that they did not measure.
std::optional<double> real_number(std::string_view text);
std::optional<bool> truth_of(std::string_view text);  // True, TRUE, true, 1, and their opposites

// Quotes at most 60 bytes of text for a message, without control sequences that a terminal obeys.
std::string shown(std::string_view text);

bool same_word(std::string_view a, std::string_view b);  // ignores case

}  // namespace rung::stacks
