// Where recipes become verified sessions: builds, tunes what is missing, binds, judges against the reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>

#include "ladder/budget.hpp"
#include "ladder/subject.hpp"
#include "measure/compare.hpp"
#include "plan/build.hpp"
#include "plan/weight_store.hpp"
#include "session/session.hpp"
#include "tune/tuner.hpp"

namespace rung {

// A recipe carried out, with what the judge said.
struct Attempt {
  Recipe recipe;
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<Session> session;
  PassReport passes;
  std::vector<Verification> verdicts;  // one per verification input
  bool right = false;
  std::string reason;                          // why it is not right
  double rel_l2 = 0, max_abs = 0, cosine = 1;  // the worst over outputs and inputs
};

struct WorkbenchOptions {
  const Target* target = &cpu_target();
  int threads = 1;
  std::string database_path;
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const std::string& what, size_t done, size_t of)> progress;
};

class Workbench {
 public:
  // Evaluates the reference on every verification input. Errors: an input is bad, the tuning database is damaged.
  static Result<std::unique_ptr<Workbench>> create(const Subject& subject, std::vector<NamedTensors> inputs,
                                                   WorkbenchOptions options, Budget& budget);

  // Errors are build failures; a wrong answer is an Attempt that is not right. `tuned_later` attempts that may want
  // kernels tuned are still to come.
  Result<Attempt> attempt(Recipe recipe, int tuned_later = 0);
  // The same for a recipe whose choices are settled: nothing is tuned, no choice added or dropped.
  Result<Attempt> attempt_as_is(Recipe recipe);
  // Forgets nothing, tunes what is missing within the seconds given, and returns the recipe with choices for its
  // problems.
  Result<Recipe> with_choices(Recipe recipe, double tuning_seconds);

  // Tolerance for a recipe: from f32 rounding along the longest path, or 1.25 x the unfused baseline's error in the
  // same low precision.
  Result<Tolerance> tolerance_for_recipe(const Recipe& recipe);

  TuningDatabase& database() { return database_; }
  // Saves the database; a failure is said in one line on the log, and the climb goes on.
  void save_tuning();
  // What has become of the problems that were tuned here, in words.
  std::string account_of_tuning() const;
  // Why the last save_tuning() failed; empty: it did not.
  const std::string& unsaved_reason() const { return unsaved_reason_; }
  const Subject& subject() const { return subject_; }
  double tuning_seconds() const { return tuning_seconds_; }
  const std::string& reference_source() const { return reference_source_; }
  // What was built last, with the choices that were tuned for it.
  const Recipe& last_recipe() const { return last_recipe_; }
  bool interrupted() const { return options_.interrupted(); }
  std::vector<TuneTask> tasks_of(const Plan& plan) const;

 private:
  Workbench(const Subject& subject, WorkbenchOptions options, Budget& budget, TuningDatabase database)
      : subject_(subject), options_(std::move(options)), budget_(budget), database_(std::move(database)) {}
  Status make_reference();
  // A session of the graph's plan, not judged; its weights are shared with those of other plans that are alive.
  Result<Attempt> bind(const Graph& graph, Recipe recipe);
  Status judge(Attempt& attempt, const Tolerance& tolerance);
  // Does the recipe's tolerance come from what it makes itself? Then it is measured here.
  bool is_unmeasured_baseline(const Recipe& recipe) const;
  Status measure_baseline_error(Attempt& baseline);
  bool low_precision(const Recipe& recipe) const;

  const Subject& subject_;
  WorkbenchOptions options_;
  Budget& budget_;
  TuningDatabase database_;
  std::shared_ptr<cpu::Team> team_;  // null on a GPU
  WeightStore weights_;
  std::vector<NamedTensors> inputs_;
  std::vector<std::vector<Tensor>> wanted_;    // by input, then output
  std::optional<double> low_precision_error_;  // of the unfused baseline
  Recipe last_recipe_;
  double tuning_seconds_ = 0;
  std::string reference_source_, unsaved_reason_;
};

// Seconds in which one attempt may tune, of those that all tuning may take and has not: as much as for each attempt
// that comes later. The last one's kernels are those that run, so earlier ones must leave time for them.
double tuning_allowance(const Budget& budget, double tuning_seconds, int tuned_later);

// The sum of reduction lengths along the graph's longest path: what f32 rounding can grow with.
int64_t longest_reduction_path(const Graph& graph);

}  // namespace rung
