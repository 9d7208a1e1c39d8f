// Rules on the files of hipBLASLt, aiter and gradlib.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "stacks/files/fields.hpp"
#include "stacks/files/table.hpp"
#include "stacks/lint/lint_rules.hpp"

namespace rung::stacks::lint_rules {
namespace {

constexpr std::string_view kVersion = "Git Version";
// Columns of aiter's bf16 and f16 products, whose files have a column for the bias.
constexpr std::string_view kHalfColumns[] = {"bias",        "dtype",   "outdtype", "scaleAB",
                                             "bpreshuffle", "libtype", "solidx"};
constexpr std::string_view kHalfLibraries[] = {"torch", "hipblaslt", "skinny", "asm", "triton", "flydsl", "opus"};
constexpr std::string_view kByteLibraries[] = {"ck", "cktile", "asm", "flydsl", "triton", "opus"};

// aiter compares these cells with the text that it writes itself; only numbers may have blanks around them.
constexpr std::string_view kWordColumns[] = {"gfx",     "dtype",       "outdtype", "q_dtype_w", "bias",
                                             "scaleAB", "bpreshuffle", "libtype",  "kernelName"};
constexpr std::string_view kTruthColumns[] = {"bias", "scaleAB", "bpreshuffle"};

bool is_of_halves(const Columns& columns) { return has_column(columns, "bias"); }

void check_truth(std::string_view column, std::string_view cell, size_t line, LintNotes& notes) {
  if (cell == "True" || cell == "False" || cell == "TRUE" || cell == "FALSE" || cell == "true" || cell == "false")
    return;
  if (cell == "0" || cell == "1") return;  // compare equal to False and True
  notes.problem(line, LintKind::never_matches,
                fmt::format("{}: got {}, wanted True or False: the whole column is then words, which match nothing",
                            column, shown(cell)));
}

}  // namespace

void hipblaslt_version(const TuningFile& file, const TunedMachine& machine, LintNotes& notes) {
  if (file.format != &hipblaslt || file.separator != ',') return;
  if (file.facts.empty())
    return notes.problem(
        0, LintKind::wrong_version,
        "there is no line 'Git Version: HASH' at the top: hipBLASLt takes none of these rows, or since "
        "2026 those with a kernel_name alone");
  for (const Fact& fact : file.facts) {
    if (fact.line > 1)
      notes.problem(
          fact.line, LintKind::wrong_version,
          fmt::format("hipBLASLt reads {} from the first line alone; rows of several versions are in this file",
                      kVersion));
    const auto known = machine.versions.find(kVersion);
    if (known != machine.versions.end() && known->second != fact.value)
      notes.problem(fact.line, LintKind::wrong_version,
                    fmt::format("{}: got {}, this machine's library has {}: it takes none of these rows, or since 2026 "
                                "those whose kernel_name is still that of the number",
                                kVersion, shown(fact.value), shown(known->second)));
  }
}

void library_solutions(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (file.format != &hipblaslt && file.format != &rocblas) return;
  const std::string_view library = file.format == &rocblas ? "rocBLAS" : "hipBLASLt";
  for (const Entry& entry : file.entries)
    if (*entry.solution->index < 1)
      notes.problem(entry.line, LintKind::unknown_solution,
                    fmt::format("solution_index: got {}, wanted one above 0: {} leaves the row out",
                                *entry.solution->index, library));
}

void aiter_columns(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (file.format != &aiter || file.tables.empty()) return;
  const Columns& columns = file.tables[0];
  const auto missing = [&](std::string_view name) {
    notes.problem(1, LintKind::columns,
                  fmt::format("there is no column {}: aiter stops with an error at the file", name));
  };
  const bool mx =
      !has_column(columns, "cu_num") && has_column(columns, "B");  // its scaled batched products have no count
  if (!has_column(columns, "cu_num") && !mx) missing("cu_num");
  if (!has_column(columns, "splitK")) missing("splitK");
  if (is_of_halves(columns)) {
    for (const std::string_view name : kHalfColumns)
      if (!has_column(columns, name)) missing(name);
  } else if (!has_column(columns, "kernelId")) {
    missing("kernelId");
  }
  if (has_column(columns, "gfx")) return;
  if (is_of_halves(columns))
    notes.problem(1, LintKind::old_form,
                  "there is no column gfx: aiter since June 2026 stops with an error at the file");
  else
    notes.note(
        1, LintKind::old_form,
        "there is no column gfx: aiter since June 2026 wants one, and looks up by the count of compute units alone");
}

void aiter_cells(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if ((file.format != &aiter && file.format != &aiter_untuned) || file.tables.empty()) return;
  for (const Entry& entry : file.entries) {
    const TableLine line(file.tables[0], file.lines[entry.line - 1].text);
    for (const std::string_view column : kWordColumns)
      if (line.raw(column) != trimmed(line.raw(column)))
        notes.problem(entry.line, LintKind::never_matches,
                      fmt::format("{}: got {} with blanks around it, which are a part of the word: it matches nothing",
                                  column, shown(line.raw(column))));
    for (const std::string_view column : kTruthColumns)
      if (has_column(file.tables[0], column)) check_truth(column, line[column], entry.line, notes);
  }
}

void aiter_libraries(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (file.format != &aiter || file.tables.empty() || !has_column(file.tables[0], "libtype")) return;
  const bool halves = is_of_halves(file.tables[0]);
  const std::span<const std::string_view> known =
      halves ? std::span<const std::string_view>(kHalfLibraries) : std::span<const std::string_view>(kByteLibraries);
  for (const Entry& entry : file.entries)
    if (std::ranges::find(known, entry.solution->library) == known.end())
      notes.problem(
          entry.line, LintKind::unknown_solution,
          fmt::format("libtype: got {}, wanted one of {}", shown(entry.solution->library), fmt::join(known, ", ")));
}

void gradlib_rows(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (file.format != &gradlib) return;
  for (const Entry& entry : file.entries)
    if (entry.solution->library != "hipblaslt" && entry.solution->library != "rocblas")
      notes.problem(
          entry.line, LintKind::unknown_solution,
          fmt::format("libtype: got {}, wanted hipblaslt or rocblas: vLLM takes the library of the row before",
                      shown(entry.solution->library)));
}

}  // namespace rung::stacks::lint_rules
