// The course of the search, and what its stages share.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/clock.hpp"

namespace rung {

namespace {

constexpr double kRefineShare = 0.2;  // of the search's time, for mixtures that measured plans speak for

}  // namespace

bool ends_climb(const Error& error) {
  return error.kind == ErrorKind::device_fault || error.kind == ErrorKind::interrupted;
}

double excess(const PrecisionGoal& goal, const MeasuredError& error, double start) {
  double worst = 0;
  const auto take = [&worst](double got, double limit) {
    const double times = got <= limit ? (limit > 0 ? got / limit : 0) : got / std::max(limit, 1e-300);
    worst = std::isnan(times) ? std::numeric_limits<double>::infinity() : std::max(worst, times);
  };
  if (goal.rel_l2) take(error.rel_l2 * error.rel_l2 - start, *goal.rel_l2 * *goal.rel_l2 - start);
  if (goal.cosine) take(1 - error.cosine, 1 - *goal.cosine);
  if (goal.kl) take(error.kl, *goal.kl);
  return worst;
}

bool PrecisionSearch::has_time_beside(double share) const {
  const double left = services_.seconds_left();
  const double trial_s = plans_.size() > 1 ? trial_s_ : services_.first_trial_s;
  return left > share * seconds_ && left > trial_s + build_s_;
}

double PrecisionSearch::added(double rel_l2) const { return std::max(0.0, rel_l2 * rel_l2 - start_squared_); }

Recipe PrecisionSearch::with(const Precision& precision) const {
  Recipe recipe = services_.start->recipe;
  recipe.precision = precision;
  recipe.choices.insert(settled_.begin(), settled_.end());
  for (const auto& [form, sizes] : sizes_)
    for (const auto& [label, size] : sizes)
      if (table_.forms[form].is_at(precision_at(precision, label))) recipe.calibration[label] = size;
  recipe.channel_calibration = needed(smoothed_channels_, precision);
  recipe.outlier_columns = largest_columns(channels_, precision);
  if (!recipe.calibration.empty() || !recipe.channel_calibration.empty() || !recipe.outlier_columns.empty())
    recipe.calibrated_on = calibrated_on_;
  if (narrowest(precision) != DType::f32) recipe.rungs.emplace("precision");
  return recipe;
}

Result<Recipe> PrecisionSearch::tuned(Recipe recipe, double seconds) const {
  if (!recipe.tuned_kernels) return recipe;
  return services_.bench->with_choices(std::move(recipe), seconds);
}

Result<std::optional<Attempt>> PrecisionSearch::built(const Recipe& recipe, const std::string& name) {
  const int64_t began = now_ns();
  auto attempt = services_.bench->attempt_unjudged(recipe);
  build_s_ = std::max(build_s_, static_cast<double>(now_ns() - began) * 1e-9);
  if (!attempt && ends_climb(attempt.error())) return tl::unexpected(attempt.error());
  if (attempt && attempt->right) return std::optional(std::move(*attempt));
  note(fmt::format("{}: {}", name, attempt ? attempt->reason : "cannot be built: " + attempt.error().message));
  return std::optional<Attempt>();
}

Result<std::optional<MeasuredError>> PrecisionSearch::error_on_watched(const Recipe& recipe, const std::string& name) {
  auto session = services_.bench->session_of(watched_, recipe);
  if (!session && ends_climb(session.error())) return tl::unexpected(session.error());
  if (!session) return note(fmt::format("{}: cannot be built: {}", name, session.error().message)), std::nullopt;
  RUNG_TRY(const Judgement judgement, services_.bench->judge().error_of(**session));
  if (!judgement.right) return note(fmt::format("{}: {}", name, judgement.reason)), std::nullopt;
  return std::optional<MeasuredError>(judgement);
}

std::optional<size_t> PrecisionSearch::bf16_form() const {
  const auto is_it = [](const PrecisionForm& form) {
    return form.products == DType::bf16 && !form.weights && !form.cache;
  };
  const auto found = std::ranges::find_if(table_.forms, is_it);
  if (found == table_.forms.end()) return std::nullopt;
  return static_cast<size_t>(found - table_.forms.begin());
}

// The start's error on all that is watched is the least that any choice can have.
Status PrecisionSearch::measure_start() {
  RUNG_CHECK(services_.tell("precision: the plan to begin with"));
  for (const std::string& label : services_.bench->subject().model.watched) {
    RUNG_CHECK(observe(watched_, label));
    report_.watched.push_back(label);
  }
  RUNG_TRY(const auto start, error_on_watched(services_.start->recipe, "the plan to begin with"));
  if (!start) return fail("precision: {}", report_.notes.back());
  RUNG_CHECK(check_reach(goal_, *start));
  report_.start_rel_l2 = start->rel_l2;
  start_squared_ = start->rel_l2 * start->rel_l2;
  return {};
}

Result<PrecisionFound> PrecisionSearch::run() {
  seconds_ = services_.seconds_left();
  table_.bases = {{.values = DType::f32, .squared_error = 0, .part_us = {}}};
  if (bf16_form()) table_.bases.push_back({.values = DType::bf16, .squared_error = {}, .part_us = {}});
  RUNG_CHECK(measure_start());
  RUNG_CHECK(time_plain_forms());
  RUNG_CHECK(settle_fastest(false));
  RUNG_CHECK(measure_values());
  RUNG_CHECK(measure_errors(1));
  RUNG_CHECK(try_transformed_forms());
  RUNG_CHECK(split_parts());
  RUNG_TRY(frontier_, mixed_frontier(table_));
  RUNG_CHECK(meet_goal());
  RUNG_CHECK(settle_fastest(true));
  RUNG_CHECK(fill_frontier(kRefineShare));
  RUNG_CHECK(refine());
  RUNG_CHECK(settle_fastest(true));
  RUNG_CHECK(fill_frontier(0));
  return conclude();
}

}  // namespace rung
