// Faults of a tuning file: rows that have no effect, or another one than they state, in the stack that loads it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/finding.hpp"
#include "stacks/files/tuning_file.hpp"

namespace rung::stacks {

using doctor::Severity;

enum class LintKind : uint8_t {
  malformed,         // a line that does not fit the format
  no_rows,           // a header only
  duplicate,         // two rows for one product
  wrong_gpu,         // rows of another architecture or count of compute units
  wrong_version,     // rows of another version of a library
  validators,        // not those of PyTorch there
  columns,           // a column is missing that the stack looks up by
  unknown_solution,  // a solution, library or operation that the format cannot have
  bad_time,          // zero or less
  slower,            // slower than the stack's default
  never_matches,     // the stack looks its product up by other words
  separators,        // semicolons, tabs, decimal commas
  encoding,          // line ends, byte-order marks
  old_form,          // a form of an obsolete version of the stack
  not_tuned,         // products that the stack's own tuner leaves out
};
inline constexpr std::array<std::string_view, 15> kLintWords{
    "malformed",     "no-rows",    "duplicate",        "wrong-gpu", "wrong-version",
    "validators",    "columns",    "unknown-solution", "bad-time",  "slower",
    "never-matches", "separators", "encoding",         "old-form",  "not-tuned"};
constexpr std::string_view name_of(LintKind kind) { return kLintWords[static_cast<size_t>(kind)]; }

struct LintFinding {
  size_t line = 0;  // from 1; 0: the file
  LintKind kind = LintKind::malformed;
  Severity severity = Severity::problem;
  std::string text;
};

// A row timed on a device, beside the stack's default.
struct MeasuredRow {
  double us = 0, default_us = 0;
  double noise = 0;  // a share: smaller differences are not significant
};

struct LintOptions {
  TunedMachine machine;
  // Measures a row that the stack takes. Null: no row is measured. Errors are noted and are no findings.
  std::function<Result<MeasuredRow>(const Entry& entry)> measure;
};

struct LintReport {
  std::string file, format, loader;  // the format's name, and the program that loads such files
  size_t rows = 0, refused = 0, measured = 0;
  std::vector<LintFinding> findings;                        // by line
  std::map<std::string, size_t, std::less<>> left_out;      // by kind: found beyond kMostListed, and not listed
  std::map<std::string, size_t, std::less<>> not_measured;  // count by reason; beyond some reasons, "other reasons"

  size_t problems() const;  // listed or not
  size_t left_out_problems = 0;
};
inline constexpr size_t kMostListed = 200;  // per kind

LintReport lint(const TuningFile& file, const LintOptions& options);

nlohmann::json to_json(const LintReport& report);

}  // namespace rung::stacks
