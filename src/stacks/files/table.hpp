// Lines under named columns: what aiter's, gradlib's, hipBLASLt's and our own files are made of.
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

// Names may be in upper or lower case, here and below. Empty: it is not there.
std::optional<size_t> column_at(const Columns& columns, std::string_view name);
inline bool has_column(const Columns& columns, std::string_view name) { return column_at(columns, name).has_value(); }
Columns columns_of(std::string_view line);

class TableLine {
 public:
  TableLine(const Columns& columns, std::string_view line);

  // Errors: more or fewer cells than columns.
  Status check_width() const;
  std::string_view raw(std::string_view column) const;         // as it stands
  std::string_view operator[](std::string_view column) const;  // without blanks and quotes around it
  // Errors: the column is missing or holds no such thing; with a fallback, where it is missing or empty, that.
  Result<int64_t> whole(std::string_view column, std::optional<int64_t> fallback = {}) const;
  Result<std::optional<double>> real(std::string_view column) const;  // nothing: missing or empty
  Result<bool> truth(std::string_view column, bool fallback) const;
  Result<ElementType> type(std::string_view column, Words words, ElementType fallback) const;
  Result<int> compute_units(std::string_view column) const;  // of the GPU that was measured; 0: it is not said
  bool has(std::string_view column) const { return has_column(*columns_, column); }

 private:
  const Columns* columns_;
  std::vector<std::string_view> cells_;
};

// The key by which a stack looks a line up: its cells of these columns, those that there are. Numbers and truths are
// compared as such: " 128" is 128, and 1 is True.
std::string key_of(const TableLine& line, ColumnNames columns);

// Reads a table whose first line that says something names the columns: `entry` makes the entry of a line, whose number
// and table are set after. Lines that begin with '#' and empty ones say nothing. Errors: more than limits allow.
Status parse_table(TuningFile& file, const std::function<Result<Entry>(const TableLine&, const Columns&)>& entry);

// The line of an entry as it stands; empty: it is new.
std::string_view standing_line(const TuningFile& file, const Entry& entry);
// The columns that a line is looked up by, where it says this product already: other words for it would be another key.
ColumnNames kept_columns(const Result<GemmShape>& standing, const GemmShape& wanted, ColumnNames looked_up);

// The line of an entry: columns of `kept` as they stand, another one as in entry.others, or as `value` says, or where
// both say nothing as it stands.
std::string table_line(const TuningFile& file, const Entry& entry, ColumnNames kept,
                       const std::function<std::optional<std::string>(std::string_view column)>& value);

// Errors: a line that was made says another product than it should, because the columns cannot say it.
Status check_said(const GemmShape& wanted, const Result<GemmShape>& said);

// The first line that says something, as columns; empty: there is none.
Columns head_columns(std::span<const Line> head);

}  // namespace rung::stacks
