// Lines of a tuning file, and the entries and tables that its parser adds from them within limits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "stacks/files/tuning_file.hpp"

namespace rung::stacks {

inline constexpr size_t kMaxTuningLines = 1'000'000;
inline constexpr size_t kMaxTuningEntries = 1'000'000;  // a line of MIOpen's files has several
inline constexpr size_t kMaxLineBytes = size_t{1} << 20;
inline constexpr size_t kMaxColumns = 256;
inline constexpr size_t kMaxTables = 1000;  // hipBLASLt's files have a header before each row, mostly of one kind

// Errors: bytes that text cannot contain, more or longer lines than limits allow.
Result<std::vector<Line>> split_lines(std::string_view text);
std::string joined(const std::vector<Line>& lines);

// Removes a UTF-8 byte-order mark, which is not part of a file's first line.
std::string_view without_mark(std::string_view line);
bool says_something(std::string_view line);  // neither empty nor a comment

// Adds the entry of a line, or notes why the line is refused. Errors: more than limits allow.
Status add_entry(TuningFile& file, Result<Entry> entry, size_t line);
Status add_table(TuningFile& file, std::vector<std::string> columns);

}  // namespace rung::stacks
