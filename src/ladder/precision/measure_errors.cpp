// Measures what each form of each part adds to the error, one at a time, the ones first that may save most.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/words.hpp"
#include "ladder/precision/search.hpp"
#include "measure/clock.hpp"

namespace rung {
namespace {

constexpr double kErrorsShare = 0.35, kSplitsShare = 0.3;  // of the search's time, left to the stages that follow
constexpr double kLeastStake = 0.001;                      // of a run: no race shows what is saved below it
constexpr size_t kMostSplits = 4;

// A form of a part, and the microseconds that it may save.
struct FormTrial {
  size_t part = 0, form = 0;
  double stake = 0;
};

std::vector<FormTrial> form_trials(const PrecisionTable& table, size_t first_form) {
  std::vector<FormTrial> trials;
  double run_us = table.bases[0].rest_us;
  for (const auto& part : table.bases[0].part_us) run_us += part[0];
  for (size_t part = 0; part < table.parts.size(); ++part)
    for (size_t form = first_form; form < table.forms.size(); ++form)
      if (const double stake = table.stake(part, form); stake > kLeastStake * run_us)
        trials.push_back({part, form, stake});
  std::ranges::stable_sort(trials, [](const FormTrial& a, const FormTrial& b) { return a.stake > b.stake; });
  return trials;
}

}  // namespace

// Returns NaN where the plan cannot be built.
Result<double> PrecisionSearch::squared_error_alone(const PrecisionTable& table, size_t part, size_t form) {
  const int64_t began = now_ns();
  MixedPrecision alone{.base = 0, .forms = std::vector<size_t>(table.parts.size(), 0)};
  alone.forms[part] = form;
  const std::string name = fmt::format("{} in {}", table.parts[part].name(), table.forms[form].name);
  RUNG_TRY(const auto error, error_on_watched(with(entries_of(table, alone, products_)), name));
  trial_s_ = std::max(trial_s_, static_cast<double>(now_ns() - began) * 1e-9);
  return error ? added(error->rel_l2) : kNotMeasured;
}

Status PrecisionSearch::measure_errors(size_t first_form) {
  std::vector<FormTrial> trials = form_trials(table_, first_form);
  std::erase_if(trials, [&](const FormTrial& trial) { return is_idle(trial.part, trial.form); });
  size_t done = 0;
  for (const auto& [part, form, stake] : trials) {
    RUNG_CHECK(services_.tell(fmt::format("precision: errors of parts {}/{}", done, trials.size())));
    if (!has_time_beside(kErrorsShare)) break;
    RUNG_TRY(table_.squared_error[part][form], squared_error_alone(table_, part, form));
    ++done;
  }
  if (done < trials.size())
    note(fmt::format("there was no time to measure the error of {} of {} forms of parts", trials.size() - done,
                     trials.size()));
  return {};
}

// Values between products are narrowed everywhere or nowhere. Beside wide products few of them are, so what they add to
// narrow ones counts, too, if that is more: the difference of two plans that differ in them alone.
Status PrecisionSearch::measure_values() {
  for (size_t base = 1; base < table_.bases.size(); ++base) {
    const size_t bf16 = *bf16_form();
    const Precision values{{.labels = "*", .values = table_.bases[base].values}};
    if (!plan_of(base, bf16) || !has_time_beside(0)) continue;
    RUNG_CHECK(services_.tell("precision: error of values"));
    RUNG_TRY(const auto error, error_on_watched(with(values), fmt::format("values in {}", table_.bases[base].values)));
    if (!error) continue;
    const Whole *wide = uniform_whole(0, bf16), *narrow = uniform_whole(base, bf16);
    const double beside_narrow = wide && narrow ? added(narrow->error.rel_l2) - added(wide->error.rel_l2) : 0;
    table_.bases[base].squared_error = std::max(added(error->rel_l2), beside_narrow);
  }
  return {};
}

// Returns the part that would save most in a narrower form than it has in the fastest mixture within the goal.
std::optional<size_t> PrecisionSearch::part_to_split(const std::set<std::string>& tried) const {
  const auto frontier = mixed_frontier(table_);
  if (!frontier) return std::nullopt;
  const auto within = fastest_within(frontier->choices, added(first_limit(goal_)));
  if (!within) return std::nullopt;
  const MixedPrecision best = (*frontier)[*within];
  const auto& part_us = table_.bases[best.base].part_us;
  std::optional<size_t> found;
  double most = 0;
  for (size_t part = 0; part < table_.parts.size(); ++part) {
    if (tried.contains(table_.parts[part].name())) continue;
    double fastest = std::numeric_limits<double>::infinity();
    for (size_t form = 0; form < table_.forms.size(); ++form)
      if (!std::isnan(table_.squared_error[part][form])) fastest = std::fmin(fastest, part_us[part][form]);
    const double saves = part_us[part][best.forms[part]] - fastest;
    if (saves > most) most = saves, found = part;
  }
  return found;
}

Status PrecisionSearch::split_parts() {
  std::set<std::string> tried;
  for (size_t splits = 0; splits < kMostSplits && has_time_beside(kSplitsShare); ++splits) {
    const std::optional<size_t> part = part_to_split(tried);
    if (!part) return {};
    tried.insert(table_.parts[*part].name());
    const auto halves = halves_of(table_.parts[*part], products_);
    if (halves.empty()) continue;
    RUNG_CHECK(services_.tell(fmt::format("precision: halves of {}", table_.parts[*part].name())));
    RUNG_TRY(const bool done, split(*part, halves));
    if (!done) return {};
  }
  return {};
}

// Puts two halves in place of a part if all of their errors can be measured: a half without them would be f32 for good.
Result<bool> PrecisionSearch::split(size_t part, const std::vector<PrecisionPart>& halves) {
  PrecisionTable split = table_;
  const size_t places[] = {part, table_.parts.size()};
  split.parts[part] = halves[0];
  split.parts.push_back(halves[1]);
  split.squared_error.push_back(table_.squared_error[part]);
  for (const size_t place : places)
    for (size_t form = 1; form < split.forms.size(); ++form) {
      if (std::isnan(table_.squared_error[part][form])) continue;
      if (!has_time_beside(kSplitsShare)) return false;
      RUNG_TRY(split.squared_error[place][form], squared_error_alone(split, place, form));
    }
  table_ = std::move(split);
  for (Whole& whole : wholes_) whole.mixture.forms.push_back(whole.mixture.forms[part]);
  fill_times();
  return true;
}

}  // namespace rung
