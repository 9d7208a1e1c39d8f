// Tables: parses columns, finds cells by name, and rewrites lines.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/table.hpp"

#include <algorithm>

#include "stacks/files/fields.hpp"
#include "stacks/files/lines.hpp"

namespace rung::stacks {
namespace {

constexpr std::string_view kTruths[] = {"bias", "scaleAB", "bpreshuffle"};

}  // namespace

std::optional<size_t> column_at(const Columns& columns, std::string_view name) {
  const auto found = std::ranges::find_if(columns, [&](const std::string& column) { return same_word(column, name); });
  if (found == columns.end()) return {};
  return static_cast<size_t>(found - columns.begin());
}

Columns columns_of(std::string_view line) {
  Columns columns;
  for (const std::string_view cell : cells_of(line)) columns.emplace_back(unquoted(cell));
  return columns;
}

TableLine::TableLine(const Columns& columns, std::string_view line) : columns_(&columns), cells_(cells_of(line)) {}

Status TableLine::check_width() const {
  if (cells_.size() == columns_->size()) return {};
  return mismatch("got {} cells, wanted the header's {}", cells_.size(), columns_->size());
}

std::string_view TableLine::raw(std::string_view column) const {
  const auto at = column_at(*columns_, column);
  return at && *at < cells_.size() ? cells_[*at] : std::string_view();
}

std::string_view TableLine::operator[](std::string_view column) const { return unquoted(raw(column)); }

Result<int64_t> TableLine::whole(std::string_view column, std::optional<int64_t> fallback) const {
  const std::string_view text = (*this)[column];
  if (text.empty() && fallback) return *fallback;
  if (!has_column(*columns_, column)) return mismatch("there is no column {}", column);
  if (const auto number = whole_number(text)) return *number;
  return mismatch("{}: got {}, wanted a whole number", column, shown(text));
}

Result<std::optional<double>> TableLine::real(std::string_view column) const {
  const std::string_view text = (*this)[column];
  if (text.empty()) return std::nullopt;
  if (const auto number = real_number(text)) return number;
  return mismatch("{}: got {}, wanted a number such as 12.5", column, shown(text));
}

Result<bool> TableLine::truth(std::string_view column, bool fallback) const {
  const std::string_view text = (*this)[column];
  if (text.empty()) return fallback;
  if (const auto truth = truth_of(text)) return *truth;
  return mismatch("{}: got {}, wanted True or False", column, shown(text));
}

Result<ElementType> TableLine::type(std::string_view column, Words words, ElementType fallback) const {
  const std::string_view text = (*this)[column];
  if (text.empty()) return fallback;
  if (const auto type = element_type_named(text, words)) return *type;
  return mismatch("{}: got {}, wanted a type such as {}", column, shown(text), name_of(ElementType::bf16, words));
}

Result<int> TableLine::compute_units(std::string_view column) const {
  RUNG_TRY(const int64_t units, whole(column, 0));
  if (units < 0 || units > 1 << 20) return mismatch("{}: got {}, wanted a count of compute units", column, units);
  return static_cast<int>(units);
}

std::string key_of(const TableLine& line, ColumnNames columns) {
  std::string key;
  for (const std::string_view column : columns) {
    if (!line.has(column)) continue;
    std::string part(line[column]);
    const bool is_truth = std::ranges::find(kTruths, column) != std::end(kTruths);
    if (const auto truth = is_truth ? truth_of(part) : std::nullopt)
      part = *truth ? "True" : "False";
    else if (const auto number = whole_number(part))
      part = std::to_string(*number);
    key.append(key.empty() ? "" : ",").append(part);
  }
  return key;
}

Columns head_columns(std::span<const Line> head) {
  for (const Line& line : head)
    if (says_something(line.text)) return columns_of(without_mark(line.text));
  return {};
}

Status parse_table(TuningFile& file, const std::function<Result<Entry>(const TableLine&, const Columns&)>& entry) {
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view text = i == 0 ? without_mark(file.lines[i].text) : std::string_view(file.lines[i].text);
    if (!says_something(text)) continue;
    if (file.tables.empty()) {
      RUNG_CHECK(add_table(file, columns_of(text)));
      continue;
    }
    const TableLine line(file.tables[0], text);
    const Status width = line.check_width();
    Result<Entry> made = width ? entry(line, file.tables[0]) : Result<Entry>(tl::unexpected<Error>(width.error()));
    RUNG_CHECK(add_entry(file, std::move(made), i + 1));
  }
  return {};
}

std::string_view standing_line(const TuningFile& file, const Entry& entry) {
  return entry.line ? without_mark(file.lines[entry.line - 1].text) : std::string_view();
}

ColumnNames kept_columns(const Result<GemmShape>& standing, const GemmShape& wanted, ColumnNames looked_up) {
  return standing && same_product(*standing, wanted) ? looked_up : ColumnNames();
}

std::string table_line(const TuningFile& file, const Entry& entry, ColumnNames kept,
                       const std::function<std::optional<std::string>(std::string_view column)>& value) {
  const Columns& columns = file.tables[entry.table];
  const auto stood = entry.line ? cells_of(standing_line(file, entry)) : std::vector<std::string_view>();
  const auto cell = [&](size_t i) -> std::string {
    const bool stands = i < stood.size();
    const auto same = [&](std::string_view name) { return same_word(name, columns[i]); };
    if (stands && std::ranges::any_of(kept, same)) return std::string(stood[i]);
    const auto other = entry.others.find(columns[i]);
    if (other != entry.others.end()) return other->second;
    return value(columns[i]).value_or(std::string(stands ? stood[i] : std::string_view()));
  };
  std::string line;
  for (size_t i = 0; i < columns.size(); ++i) line.append(i ? "," : "").append(cell(i));
  return line;
}

Status check_said(const GemmShape& wanted, const Result<GemmShape>& said) {
  if (said && same_product(wanted, *said)) return {};
  return mismatch("got {}, wanted a product that the columns of this file can express; they make it {}",
                  text_of(wanted), said ? text_of(*said) : said.error().message);
}

std::string cell_of(const TuningFile& file, const Entry& entry, std::string_view column) {
  if (entry.line == 0) {
    const auto found = entry.others.find(column);
    return found == entry.others.end() ? "" : found->second;
  }
  if (entry.table >= file.tables.size()) return "";
  return std::string(TableLine(file.tables[entry.table], file.lines[entry.line - 1].text)[column]);
}

}  // namespace rung::stacks
