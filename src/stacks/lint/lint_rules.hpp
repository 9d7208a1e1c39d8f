// The rules of the linter: each examines a file and a machine, and notes its findings.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "stacks/files/format.hpp"
#include "stacks/lint/lint.hpp"

namespace rung::stacks {

class LintNotes {
 public:
  explicit LintNotes(LintReport& report) : report_(&report) {}
  void problem(size_t line, LintKind kind, std::string text) { add({line, kind, Severity::problem, std::move(text)}); }
  void note(size_t line, LintKind kind, std::string text) { add({line, kind, Severity::note, std::move(text)}); }

 private:
  void add(LintFinding finding);
  LintReport* report_;
  std::array<size_t, kLintWords.size()> listed_{};
};

namespace lint_rules {

using Rule = void(const TuningFile& file, const TunedMachine& machine, LintNotes& notes);
// Rules of all formats.
Rule refused_lines, separators, encoding, no_rows, duplicates, bad_times, slower_than_default, other_gpus, other_vendor;
// Rules of one stack, which examine only its files.
Rule tunableop_validators, tunableop_solutions, tunableop_names, tunableop_offline;
Rule hipblaslt_version, library_solutions;
Rule aiter_columns, aiter_cells, aiter_libraries, gradlib_rows;

// Returns whether the entry is the stack's own choice, with which others are compared.
bool is_default(const Entry& entry);
// Returns whether the entry is for this GPU, as far as the row and the machine identify their GPUs.
bool is_for(const Entry& entry, const TunedMachine& machine);

}  // namespace lint_rules
}  // namespace rung::stacks
