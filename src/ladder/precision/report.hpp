// The findings of a climb with a stated error, as plain data for report/.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ladder/speedup.hpp"

namespace rung {

// A form of a part. A time or an error that was not measured is NaN.
struct FormReport {
  std::string name;   // "f32", "bf16", "f8e4m3fn", "i8 weights"
  double us = 0;      // of the part's launches in a run of the plan in which all parts have that form
  double rel_l2 = 0;  // of the answers of a plan in which no other part is narrow
};

struct PartReport {
  std::string name;    // its scopes
  std::string kind;    // "products", "attention", "values"
  std::string chosen;  // a form's name
  std::vector<FormReport> forms;
};

// A whole plan that was built, judged and raced.
struct WholeReport {
  std::string name;         // "all bf16"; empty: a mixture
  std::string recipe;       // the file beside the plan; empty: none is written
  double predicted_us = 0;  // of all launches; NaN: it is no mixture of the table
  double predicted_rel_l2 = 0;
  Speedup speedup;  // over the plan that the search began with
  double rel_l2 = 0, cosine = 1, kl = 0;
  bool meets_goal = false;
  bool best = false;  // no other whole is both as fast and as exact
  bool chosen = false;
};

// A mixture that the table predicts, and nobody built.
struct PredictedReport {
  double us = 0, rel_l2 = 0;
};

struct PrecisionReport {
  static constexpr double kNotStated = std::numeric_limits<double>::quiet_NaN();
  // The goal: limits that were not given are NaN.
  double limit_rel_l2 = kNotStated, limit_cosine = kNotStated, limit_kl = kNotStated;
  double start_rel_l2 = 0;  // of the plan that the search began with
  double start_us = 0;      // of all its launches
  double factor = 1;        // squared error of the last mixture over the sum of its parts'
  std::vector<PartReport> parts;
  std::vector<WholeReport> wholes;
  std::vector<PredictedReport> predicted;
  std::vector<std::string> watched;  // inner values whose error counts as an output's does
  std::vector<std::string> notes;    // forms that there are no kernels for, what there was no time for
  // Returns whether the climb had a goal, and whether there was a plan to try.
  bool is_stated() const { return !std::isnan(limit_rel_l2) || !std::isnan(limit_cosine) || !std::isnan(limit_kl); }
  bool searched() const { return !wholes.empty(); }
};

}  // namespace rung
