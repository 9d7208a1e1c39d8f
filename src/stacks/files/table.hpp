// Lines under named columns: the files of aiter, gradlib and hipBLASLt, and our own, have this form.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stacks/files/tuning_file.hpp"

namespace rung::stacks {

using Columns = std::vector<std::string>;
using ColumnNames = std::span<const std::string_view>;

// Returns the index of a column, ignoring the case of names, as all functions here do; empty: no such column.
std::optional<size_t> column_at(const Columns& columns, std::string_view name);
inline bool has_column(const Columns& columns, std::string_view name) { return column_at(columns, name).has_value(); }
Columns columns_of(std::string_view line);

class TableLine {
 public:
  TableLine(const Columns& columns, std::string_view line);

  // Errors: more or fewer cells than columns.
  Status check_width() const;
  std::string_view raw(std::string_view column) const;         // unchanged
  std::string_view operator[](std::string_view column) const;  // without blanks and quotes around it
  // Errors: the column is missing or not of that type; a fallback replaces a missing or empty cell.
  Result<int64_t> whole(std::string_view column, std::optional<int64_t> fallback = {}) const;
  Result<std::optional<double>> real(std::string_view column) const;  // none: missing or empty
  Result<bool> truth(std::string_view column, bool fallback) const;
  Result<ElementType> type(std::string_view column, Words words, ElementType fallback) const;
  Result<int> compute_units(std::string_view column) const;  // of the GPU that was measured; 0: not given
  bool has(std::string_view column) const { return has_column(*columns_, column); }

 private:
  const Columns* columns_;
  std::vector<std::string_view> cells_;
};

// Returns the key by which a stack looks a line up: the cells of those of these columns that exist. Compares numbers
// and truth values by value: " 128" is 128, and 1 is True.
std::string key_of(const TableLine& line, ColumnNames columns);

// Reads a table whose first significant line names the columns: `entry` makes the entry of a line, and its line number
// and table are set afterwards. Empty lines and lines that begin with '#' are skipped. Errors: more than limits allow.
Status parse_table(TuningFile& file, const std::function<Result<Entry>(const TableLine&, const Columns&)>& entry);

// Returns the existing line of an entry; empty: the entry is new.
std::string_view standing_line(const TuningFile& file, const Entry& entry);
// Returns the key columns to keep if the line already holds this product: other spellings of it would change the key.
ColumnNames kept_columns(const Result<GemmShape>& standing, const GemmShape& wanted, ColumnNames looked_up);

// Writes the line of an entry: keeps the columns of `kept`; fills any other column from entry.others or `value`, and
// leaves it unchanged where neither has it.
std::string table_line(const TuningFile& file, const Entry& entry, ColumnNames kept,
                       const std::function<std::optional<std::string>(std::string_view column)>& value);

// Errors: a line that was made reads as another product, because the columns cannot express the wanted one.
Status check_said(const GemmShape& wanted, const Result<GemmShape>& said);

// Returns the columns named by the first significant line; empty: there is no such line.
Columns head_columns(std::span<const Line> head);

}  // namespace rung::stacks
