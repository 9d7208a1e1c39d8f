// Makes verified sessions of recipes: builds, tunes what is missing, binds, has the judge compare.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <set>

#include "ladder/judge.hpp"
#include "plan/build.hpp"
#include "plan/weight_store.hpp"
#include "tune/tuner.hpp"

namespace rung {

// A recipe carried out, with the judge's verdict.
struct Attempt : Judgement {
  Recipe recipe;
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<Session> session;
  PassReport passes;
};

struct WorkbenchOptions {
  const Target* target = &cpu_target();
  int threads = 1;
  std::string database_path;
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const std::string& what, size_t done, size_t of)> progress;
  PrecisionGoal goal = {};  // the judge's
};

class Workbench {
 public:
  // Makes a workbench whose judge knows the right answers. Errors: an input is bad, the tuning database is damaged.
  static Result<std::unique_ptr<Workbench>> create(const Subject& subject, std::vector<NamedTensors> inputs,
                                                   WorkbenchOptions options, Budget& budget);

  // Builds, tunes and judges a recipe. Errors are build failures; a wrong answer is an Attempt that is not right.
  // `tuned_later` attempts that may want kernels tuned are still to come.
  Result<Attempt> attempt(Recipe recipe, int tuned_later = 0);
  // Does the same for a recipe whose choices are settled: nothing is tuned, no choice added or dropped.
  Result<Attempt> attempt_as_is(Recipe recipe);
  // Does the same, but accepts any answers: the caller asks for the error.
  Result<Attempt> attempt_unjudged(Recipe recipe);
  // Binds the recipe's plan of another graph of the same inputs, such as the model's with inner values as outputs.
  // Errors: those of building it.
  Result<std::unique_ptr<Session>> session_of(const Graph& graph, Recipe recipe);
  // Tunes what is missing within the seconds given, forgets nothing, and returns the recipe with choices for its
  // problems.
  Result<Recipe> with_choices(Recipe recipe, double tuning_seconds);
  // Has later attempts measure again what an earlier climb found for the problem. Until there is time for that, they
  // rely on it.
  void doubt(const std::string& problem) { doubted_.insert(problem); }

  Judge& judge() { return *judge_; }
  TuningDatabase& database() { return database_; }
  // Saves the database; a failure is reported in one line on the log, and the climb goes on.
  void save_tuning();
  // Tells in words how the tuning of each problem ended.
  std::string account_of_tuning() const;
  // Returns why the last save_tuning() failed; empty: it did not.
  const std::string& unsaved_reason() const { return unsaved_reason_; }
  const Subject& subject() const { return subject_; }
  const Target& target() const { return *options_.target; }
  double tuning_seconds() const { return tuning_seconds_; }
  // Returns the recipe that was built last, with the choices that were tuned for it.
  const Recipe& last_recipe() const { return last_recipe_; }

 private:
  Workbench(const Subject& subject, WorkbenchOptions options, Budget& budget, TuningDatabase database)
      : subject_(subject), options_(std::move(options)), budget_(budget), database_(std::move(database)) {}
  // Binds a session of the graph's plan, not judged; its weights are shared with those of other plans that are alive.
  Result<Attempt> bind(const Graph& graph, Recipe recipe);

  const Subject& subject_;
  WorkbenchOptions options_;
  Budget& budget_;
  TuningDatabase database_;
  Result<std::shared_ptr<cpu::Team>> team_of(int threads);  // null on a GPU
  std::map<int, std::shared_ptr<cpu::Team>> teams_;
  WeightStore weights_;
  std::unique_ptr<Judge> judge_;
  Recipe last_recipe_;
  std::set<std::string> doubted_;  // problems
  double tuning_seconds_ = 0;
  std::string unsaved_reason_;
};

// Returns the seconds in which one attempt may tune: an equal part, with each attempt that comes later, of what all
// tuning has left. The last one's kernels are those that run, so earlier ones must leave time for them.
double tuning_allowance(const Budget& budget, double tuning_seconds, int tuned_later);

}  // namespace rung
