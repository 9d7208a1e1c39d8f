// The search for the fastest precision within a stated error: times and errors of parts, a table of them, mixtures that
// the solver finds in it, and whole plans of these, which alone are believed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ladder/precision/corrections.hpp"
#include "ladder/precision/report.hpp"
#include "ladder/precision/table.hpp"
#include "ladder/refine.hpp"
#include "ladder/workbench.hpp"
#include "open/calibrate.hpp"

namespace rung {

// The climb around a search, as far as it needs one.
struct SearchServices {
  Workbench* bench = nullptr;
  const Attempt* start = nullptr;                     // the plan that it begins with, in f32 as far as recipes decide
  const std::vector<NamedTensors>* inputs = nullptr;  // of the workbench; the first is the one that is timed
  // Races a plan with the one to begin with; `decides`: it may be chosen, so that the race wants an interval.
  std::function<Result<Speedup>(Session&, bool decides)> race;
  std::function<Result<Speedup>(Session&, Session&)> race_two;  // of the second plan over the first; may be close
  std::function<Status(const std::string&)> tell;               // progress; an error where the climb is interrupted
  std::function<double()> seconds_left;
  double first_trial_s = 0;  // that the first trial may take, as far as the climb knows
};

// The findings of a search. recipes[i] is that of report.wholes[i]; `chosen` is among them.
struct PrecisionFound {
  PrecisionReport report;
  std::vector<Recipe> recipes;
  std::optional<size_t> chosen;  // none: no whole within the goal was clearly faster
};

// Returns the factor by which a measured error's square exceeds a goal, by its worst limit; at most 1: it meets the
// goal. The divergence of distributions and 1 - cosine grow as squares of the error do. `start`: the squared error
// before any part was narrowed, which no choice removes.
double excess(const PrecisionGoal& goal, const MeasuredError& error, double start);

// Returns whether a climb cannot go on after the error of one plan.
bool ends_climb(const Error& error);

class PrecisionSearch {
 public:
  PrecisionSearch(SearchServices services, PrecisionGoal goal, std::vector<PrecisionForm> forms)
      : services_(std::move(services)), goal_(goal), watched_(services_.bench->subject().model.graph) {
    table_.forms = std::move(forms);
  }
  // Errors: a plan's run failed; interrupted; the goal is out of reach (mismatch): the message has the least error.
  Result<PrecisionFound> run();

 private:
  struct TimedPlan {
    size_t base = 0, form = 0;  // of the table
    std::vector<ProductLaunch> launches;
    double other_us = 0;  // of launches without products
  };
  struct Whole {
    MixedPrecision mixture;
    Recipe recipe;
    MeasuredError error;
    WholeReport report;
  };

  // Returns whether there is time for another trial, and for building the chosen plan once more behind it, in a stage
  // that leaves this share of the search's time to those that follow.
  bool has_time_beside(double share) const;
  double added(double rel_l2) const;  // squared error beyond that of the plan to begin with
  Recipe with(const Precision& precision) const;
  Result<Recipe> tuned(Recipe recipe, double seconds) const;
  // Builds the recipe's plan, and tells why it could not be. Errors: only what ends a climb.
  Result<std::optional<Attempt>> built(const Recipe& recipe, const std::string& name);
  Result<std::optional<MeasuredError>> error_on_watched(const Recipe& recipe, const std::string& name);
  void note(std::string text) { report_.notes.push_back(std::move(text)); }

  Status measure_start();
  // transforms.cpp: forms whose values are made alike before they are rounded, and what all forms must know of values.
  CalibrationRuns calibration_runs() const;
  Status try_transformed_forms();
  Status add_transformed_forms();
  Status add_outlier_forms(size_t plain);
  Status add_mixed_forms(size_t plain);
  Status add_percentile_form(size_t plain);
  Status add_transformed(PrecisionForm form, size_t plain);
  Result<std::string> passed_in(size_t form) const;
  bool is_idle(size_t part, size_t form) const;
  Status calibrate_form(size_t base, size_t form);
  std::optional<size_t> bf16_form() const;
  // time_forms.cpp
  Status time_plain_forms();
  Status time_forms(size_t first_form);
  Status time_form(size_t base, size_t form, double seconds);
  Status keep_times(size_t base, size_t form, const Attempt& attempt);
  bool is_form_of(ProductKind kind, size_t form) const;
  size_t products_beside(size_t base, size_t form) const;
  MixedPrecision uniform(size_t base, size_t form) const;
  Precision uniform_entries(size_t base, size_t form) const;
  void fill_times();
  const TimedPlan* plan_of(size_t base, size_t form) const;
  const Whole* uniform_whole(size_t base, size_t form) const;  // null: there is none
  // measure_errors.cpp
  Status measure_values();
  Status measure_errors(size_t first_form);
  Result<double> squared_error_alone(const PrecisionTable& table, size_t part, size_t form);
  Status split_parts();
  Result<bool> split(size_t part, const std::vector<PrecisionPart>& halves);
  std::optional<size_t> part_to_split(const std::set<std::string>& tried) const;
  // wholes.cpp
  Status meet_goal();
  Status fill_frontier(double share_left);
  // Both return null where the plan cannot be built or gives no numbers.
  Result<const Whole*> add_whole(Attempt attempt, MixedPrecision mixture, std::string name);
  Result<const Whole*> measure_mixture(const MixedPrecision& mixture, const PrecisionChoice& predicted);
  Result<const Whole*> measure_at(size_t index);  // of the frontier
  // settle.cpp
  Result<std::vector<ModelTrial>> unsettled(const Recipe& recipe, double run_us) const;
  Result<bool> settle_choice(const ModelTrial& trial, Attempt& best);
  Status settle(size_t index);
  Status settle_fastest(bool within_goal);
  // refine.cpp
  std::vector<MeasuredSaving> measured_savings() const;
  double squared_error_within_goal() const;
  Result<std::optional<MixedPrecision>> mixture_worth_a_trial() const;
  Status refine();
  PrecisionFound conclude();
  std::optional<size_t> choose();
  std::vector<PartReport> parts_of(const MixedPrecision& chosen) const;

  SearchServices services_;
  PrecisionGoal goal_;
  Graph watched_;                                    // the model's, with the values that are watched as outputs
  std::map<size_t, Calibration> sizes_;              // of forms with static scales
  ChannelCalibration channels_, smoothed_channels_;  // of all linears, and of those that can be smoothed
  std::optional<CalibrationSource> calibrated_on_;
  PrecisionTable table_;
  std::vector<TimedPlan> plans_;
  std::vector<ProductLaunch> products_;  // of all of them: launches, and groups of the model's products
  std::map<std::string, KernelChoice, std::less<>> settled_;  // choices that won in whole plans, by problem
  std::set<std::string> tried_;                               // choices that were tried there, by their text_of()
  MixedFrontier frontier_;
  std::vector<Whole> wholes_;
  std::set<size_t> measured_;  // mixtures of the frontier, by their indices
  size_t mixtures_ = 0;        // that were tried
  PrecisionReport report_;
  double start_squared_ = 0, seconds_ = 0;
  double trial_s_ = 0, build_s_ = 0;  // the longest of trials, and of builds of whole plans with their judgement
};

}  // namespace rung
