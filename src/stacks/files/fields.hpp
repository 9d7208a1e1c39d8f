// Cells of a line, and what stands in them: the one way in which all formats split lines and read numbers. No locale.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/trimmed.hpp"

namespace rung::stacks {

// A separator between double quotes separates nothing; the quotes stay.
std::vector<std::string_view> cells_of(std::string_view line, char separator = ',');

inline std::string_view trimmed(std::string_view text) { return rung::trimmed(text, " \t"); }
std::string_view unquoted(std::string_view text);  // trimmed, and no double quotes around it

std::optional<int64_t> whole_number(std::string_view text);  // decimal, with blanks around it; nothing else
// The same with a point or an exponent; also "inf" and "nan", which stacks write for what they did not measure.
std::optional<double> real_number(std::string_view text);
std::optional<bool> truth_of(std::string_view text);  // True, TRUE, true, 1, and their opposites

// For a message: quoted, at most 60 bytes of it, without what a terminal obeys.
std::string shown(std::string_view text);

bool same_word(std::string_view a, std::string_view b);  // in upper or lower case

}  // namespace rung::stacks
