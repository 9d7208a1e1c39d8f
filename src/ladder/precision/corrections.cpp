// Corrects the times of a table by those of whole plans.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/corrections.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/random.hpp"

namespace rung {
namespace {

constexpr double kRaceDeviation = 0.003;  // of a race at least, as a share of the time of the plan that nothing narrows
constexpr double kLeastDeviation = 0.002;  // of a form that saves nothing by the table, as the same share
constexpr size_t kValues = size_t(0) - 1;  // in the place of a part: all values, whose form is a base

using Item = std::pair<size_t, size_t>;  // a part and its form
using Longer = std::map<Item, double>;   // microseconds
using Numbers = std::vector<double>;

// Solves a x = b for a symmetric positive definite matrix, by Gaussian elimination.
Numbers solved(std::vector<Numbers> a, Numbers b) {
  const size_t n = b.size();
  for (size_t k = 0; k < n; ++k)
    for (size_t i = k + 1; i < n; ++i) {
      const double times = a[i][k] / a[k][k];
      for (size_t j = k; j < n; ++j) a[i][j] -= times * a[k][j];
      b[i] -= times * b[k];
    }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

MixedPrecision nothing_narrow(const PrecisionTable& table, size_t base) {
  return {.base = base, .forms = std::vector<size_t>(table.parts.size(), 0)};
}

class Corrections {
 public:
  Corrections(const PrecisionTable& table, const std::vector<MeasuredSaving>& plans) : table_(table) {
    start_us_ = predicted(table, nothing_narrow(table, 0)).us;
    for (const MeasuredSaving& plan : plans) add(plan);
  }

  // Returns how much longer each form that a plan has takes than the table says.
  Longer likeliest() const {
    Longer longer;
    move_to(too_much_, longer);
    return longer;
  }
  // Returns the same for every form, drawn from all that the plans leave possible: of what was possible before them a
  // draw is moved by as much as the plans contradict it (Matheron's rule).
  Longer draw(uint64_t seed) const {
    uint64_t at = 0;
    const auto normal = [&](double deviation) { return deviation * random_normal(seed, at++); };
    Longer longer;
    for (size_t base = 1; base < table_.bases.size(); ++base) longer[{kValues, base}] = 0;
    for (size_t part = 0; part < table_.parts.size(); ++part)
      for (size_t form = 1; form < table_.forms.size(); ++form) longer[{part, form}] = 0;
    for (auto& [item, us] : longer) us = normal(std::sqrt(variance_of(item)));
    Numbers left = too_much_;
    for (size_t i = 0; i < left.size(); ++i) {
      left[i] -= normal(deviations_[i]);
      for (const Item& item : items_[i]) left[i] -= longer[item];
    }
    move_to(left, longer);
    return longer;
  }

 private:
  // Makes forms longer so that each plan takes longer by about so much.
  void move_to(const Numbers& by_plan, Longer& longer) const {
    const size_t n = by_plan.size();
    std::vector<Numbers> variance(n, Numbers(n, 0));
    for (size_t i = 0; i < n; ++i) {
      variance[i][i] = deviations_[i] * deviations_[i];
      for (size_t j = 0; j < n; ++j)
        for (const Item& item : items_[i])
          if (std::ranges::find(items_[j], item) != items_[j].end()) variance[i][j] += variance_of(item);
    }
    const Numbers weights = solved(std::move(variance), by_plan);
    for (size_t i = 0; i < n; ++i)
      for (const Item& item : items_[i]) longer[item] += variance_of(item) * weights[i];
  }
  void add(const MeasuredSaving& plan) {
    const double saves = start_us_ - predicted(table_, plan.mixture).us;
    if (!std::isfinite(saves) || !std::isfinite(plan.us) || !std::isfinite(plan.deviation_us)) return;
    std::vector<Item>& items = items_.emplace_back();
    if (plan.mixture.base > 0) items.emplace_back(kValues, plan.mixture.base);
    for (size_t part = 0; part < plan.mixture.forms.size(); ++part)
      if (plan.mixture.forms[part] > 0) items.emplace_back(part, plan.mixture.forms[part]);
    too_much_.push_back(saves - plan.us);
    deviations_.push_back(std::max(kRaceDeviation * start_us_, plan.deviation_us));
  }
  double variance_of(const Item& item) const {
    const auto [part, form] = item;
    const double saves =
        part == kValues ? start_us_ - predicted(table_, nothing_narrow(table_, form)).us : table_.stake(part, form);
    const double least = kLeastDeviation * start_us_;
    return least * least + (std::isfinite(saves) ? saves * saves : 0);
  }

  const PrecisionTable& table_;
  double start_us_ = 0;
  std::vector<std::vector<Item>> items_;  // what is narrow, by plan
  Numbers too_much_;                      // predicted savings, less the measured ones
  Numbers deviations_;                    // of the measured ones
};

PrecisionTable with(PrecisionTable table, const Longer& longer) {
  for (const auto& [item, us] : longer) {
    const auto [part, form] = item;
    if (part == kValues)
      table.bases[form].rest_us = std::max(table.bases[form].rest_us + us, 0.0);
    else
      for (ValuesTimes& base : table.bases)  // what was not measured stays a NaN
        base.part_us[part][form] = std::max(base.part_us[part][form] + us, 0.0);
  }
  return table;
}

}  // namespace

PrecisionTable corrected(PrecisionTable table, const std::vector<MeasuredSaving>& plans) {
  const Longer longer = Corrections(table, plans).likeliest();
  return with(std::move(table), longer);
}

PrecisionTable drawn(PrecisionTable table, const std::vector<MeasuredSaving>& plans, uint64_t seed) {
  const Longer longer = Corrections(table, plans).draw(seed);
  return with(std::move(table), longer);
}

}  // namespace rung
