// Builds, judges and races whole plans of mixtures: what the table predicts is only where to look.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/log.hpp"
#include "ladder/precision/search.hpp"
#include "measure/clock.hpp"

namespace rung {
namespace {

constexpr double kNoPrediction = std::numeric_limits<double>::quiet_NaN();
constexpr double kGoalShare = 0.2;            // of the search's time, left to the points beside the goal
constexpr double kMixtureTuningShare = 0.02;  // of the search's time, for what a mixture needs beyond uniform plans
constexpr size_t kMostRounds = 6;             // of plans that approach the goal
constexpr double kNearGoal = 0.9;             // of the goal's squared error: nearer ones are not looked for
constexpr size_t kMixtures = 10;              // that are measured
constexpr size_t kMostPredicted = 40;         // that are reported

double limit_or_nan(const std::optional<double>& limit) { return limit.value_or(PrecisionReport::kNotStated); }

}  // namespace

Result<const PrecisionSearch::Whole*> PrecisionSearch::add_whole(Attempt attempt, MixedPrecision mixture,
                                                                 std::string name) {
  Whole whole{std::move(mixture), attempt.recipe, attempt, {}};
  if (!report_.watched.empty()) {
    RUNG_TRY(const auto watched, error_on_watched(attempt.recipe, name.empty() ? "a mixture" : name));
    if (!watched) return nullptr;
    whole.error.rel_l2 = std::max(whole.error.rel_l2, watched->rel_l2);
    whole.error.cosine = std::min(whole.error.cosine, watched->cosine);
  }
  whole.report.meets_goal = missed(goal_, whole.error).empty();
  RUNG_TRY(whole.report.speedup, services_.race(*attempt.session, whole.report.meets_goal));
  whole.report.name = std::move(name);
  whole.report.predicted_us = whole.report.predicted_rel_l2 = kNoPrediction;
  whole.report.rel_l2 = whole.error.rel_l2;
  whole.report.cosine = whole.error.cosine;
  whole.report.kl = goal_.kl ? whole.error.kl : kNoPrediction;
  wholes_.push_back(std::move(whole));
  return &wholes_.back();
}

Result<const PrecisionSearch::Whole*> PrecisionSearch::measure_at(size_t index) {
  measured_.insert(index);
  return measure_mixture(frontier_[index], frontier_.choices[index]);
}

Result<const PrecisionSearch::Whole*> PrecisionSearch::measure_mixture(const MixedPrecision& mixture,
                                                                       const PrecisionChoice& predicted) {
  const int64_t began = now_ns();
  RUNG_CHECK(services_.tell(fmt::format("precision: mixture {}", ++mixtures_)));
  const std::string name = fmt::format("the mixture of {:.3g} us", predicted.us);
  auto recipe = without_idle_entries(with(entries_of(table_, mixture, products_)),
                                     services_.bench->subject().model.graph, {.target = &services_.bench->target()});
  if (recipe) recipe = tuned(std::move(*recipe), kMixtureTuningShare * seconds_);
  if (!recipe) return note(fmt::format("{}: cannot be built: {}", name, recipe.error().message)), nullptr;
  RUNG_TRY(auto attempt, built(*recipe, name));
  if (!attempt) return nullptr;
  RUNG_TRY(const Whole* whole, add_whole(std::move(*attempt), mixture, ""));
  trial_s_ = std::max(trial_s_, static_cast<double>(now_ns() - began) * 1e-9);
  if (!whole) return nullptr;
  WholeReport& report = wholes_.back().report;
  report.predicted_us = predicted.us;
  report.predicted_rel_l2 = std::sqrt(predicted.squared_error + start_squared_);
  if (predicted.squared_error > 0) report_.factor = added(report.rel_l2) / predicted.squared_error;
  log(2, "precision: predicted {:.3g} us and {:.3g}, measured {:.3g} x and {:.3g}", predicted.us,
      report.predicted_rel_l2, report.speedup.ratio, report.rel_l2);
  return whole;
}

// Approaches the goal: a mixture whose whole plan exceeds it, or stays far below, tells by how much the sum of its
// parts' errors is wrong, and where the next one should be. `slow` meets the goal, `fast` does not.
Status PrecisionSearch::meet_goal() {
  double target = added(first_limit(goal_));
  size_t slow = 0, fast = frontier_.size();
  for (size_t round = 0; round < kMostRounds && slow + 1 < fast && has_time_beside(kGoalShare); ++round) {
    const auto within = fastest_within(frontier_.choices, target);
    const size_t next = std::min(within.value_or(0), fast - 1);
    if (next <= slow) return {};
    RUNG_TRY(const Whole* whole, measure_at(next));
    const double times = whole ? excess(goal_, whole->error, start_squared_) : std::numeric_limits<double>::infinity();
    (times <= 1 ? slow : fast) = next;
    if (times <= 1 && times > kNearGoal) return {};
    if (std::isinf(times))
      target = frontier_.choices[slow + (fast - slow) / 2].squared_error;
    else
      target = frontier_.choices[next].squared_error / std::max(times, 1e-3);
  }
  return {};
}

// Measures mixtures over the whole range of times, those in the largest gaps first.
Status PrecisionSearch::fill_frontier(double share_left) {
  for (const size_t index : spread_over(frontier_.choices, kMixtures)) {
    if (measured_.size() >= kMixtures || !has_time_beside(share_left)) break;
    const bool is_start = frontier_.choices[index].squared_error <= 0;
    if (!measured_.contains(index) && !is_start) RUNG_CHECK(measure_at(index));
  }
  return {};
}

// Returns the fastest whole within the goal that is clearly faster than the plan to begin with. Marks the wholes that
// no other one beats.
std::optional<size_t> PrecisionSearch::choose() {
  std::optional<size_t> chosen;
  for (size_t i = 0; i < wholes_.size(); ++i) {
    WholeReport& one = wholes_[i].report;
    one.best = std::ranges::none_of(wholes_, [&](const Whole& other) {
      const bool beats = other.report.speedup.ratio >= one.speedup.ratio && other.report.rel_l2 <= one.rel_l2;
      return beats && (other.report.speedup.ratio > one.speedup.ratio || other.report.rel_l2 < one.rel_l2);
    });
    const bool may_be = one.meets_goal && one.speedup.is_faster();
    if (may_be && (!chosen || one.speedup.ratio > wholes_[*chosen].report.speedup.ratio)) chosen = i;
  }
  if (chosen) wholes_[*chosen].report.chosen = true;
  return chosen;
}

std::vector<PartReport> PrecisionSearch::parts_of(const MixedPrecision& chosen) const {
  std::vector<PartReport> parts;
  const auto rel_l2 = [](double squared_error) { return std::sqrt(squared_error); };
  for (size_t part = 0; part < table_.parts.size(); ++part) {
    const bool weights = table_.parts[part].kind == ProductKind::weights;
    PartReport& report = parts.emplace_back();
    report.name = table_.parts[part].name();
    report.kind = weights ? "products" : "attention";
    report.chosen = table_.forms[chosen.forms[part]].name;
    for (size_t form = 0; form < table_.forms.size(); ++form)
      if (is_form_of(table_.parts[part].kind, form))
        report.forms.push_back({table_.forms[form].name, table_.bases[chosen.base].part_us[part][form],
                                rel_l2(table_.squared_error[part][form])});
  }
  PartReport& values = parts.emplace_back(PartReport{.name = "*", .kind = "values", .chosen = {}, .forms = {}});
  values.chosen = name_of(table_.bases[chosen.base].values);
  for (const ValuesTimes& base : table_.bases)
    if (base.squared_error)
      values.forms.push_back({std::string(name_of(base.values)), base.rest_us, rel_l2(*base.squared_error)});
  return parts;
}

PrecisionFound PrecisionSearch::conclude() {
  PrecisionFound found;
  found.chosen = choose();
  const MixedPrecision start{.base = 0, .forms = std::vector<size_t>(table_.parts.size(), 0)};
  const MixedPrecision& chosen = found.chosen ? wholes_[*found.chosen].mixture : start;
  report_.limit_rel_l2 = limit_or_nan(goal_.rel_l2);
  report_.limit_cosine = limit_or_nan(goal_.cosine);
  report_.limit_kl = limit_or_nan(goal_.kl);
  report_.parts = parts_of(chosen);
  report_.start_us = table_.bases[0].rest_us;
  for (const auto& part_us : table_.bases[0].part_us) report_.start_us += part_us[0];
  for (const size_t index : spread_over(frontier_.choices, kMostPredicted)) {
    const PrecisionChoice& predicted = frontier_.choices[index];
    report_.predicted.push_back({predicted.us, std::sqrt(predicted.squared_error + start_squared_)});
  }
  for (Whole& whole : wholes_) {
    whole.report.recipe = fmt::format("recipe_frontier_{}.json", found.recipes.size() + 1);
    found.recipes.push_back(std::move(whole.recipe));
    report_.wholes.push_back(std::move(whole.report));
  }
  found.report = std::move(report_);
  return found;
}

}  // namespace rung
