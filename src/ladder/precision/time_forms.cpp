// Times the parts in plans that have one form everywhere: every part then has its own shape, and neighbours like it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ladder/precision/search.hpp"
#include "ladder/profile.hpp"
#include "measure/clock.hpp"

namespace rung {
namespace {

constexpr double kTimesShare = 0.55;        // of the search's time, left to the stages that follow
constexpr double kFormsTuningShare = 0.25;  // of the search's time, for the kernels of all forms together
constexpr double kTimingShare = 0.1, kMostTimingSeconds = 2;  // for the times of their launches; of one form

}  // namespace

// Returns whether parts of a kind may have that form.
bool PrecisionSearch::is_form_of(ProductKind kind, size_t form) const {
  const bool has_cache = table_.forms[form].cache.has_value();
  if (kind == ProductKind::weights) return !has_cache;
  return form == 0 || form == bf16_form() || has_cache;
}

// Returns the form of products with weights in the plan for a form: a cache's is the one of the base.
size_t PrecisionSearch::products_beside(size_t base, size_t form) const {
  if (is_form_of(ProductKind::weights, form)) return form;
  return base == 0 ? 0 : *bf16_form();
}

// Attention is in bf16 beside narrow products, where the device has it.
MixedPrecision PrecisionSearch::uniform(size_t base, size_t form) const {
  MixedPrecision mixture{.base = base, .forms = {}};
  const size_t products = products_beside(base, form);
  const size_t attention = form != products ? form : form == 0 ? 0 : bf16_form().value_or(0);
  for (const PrecisionPart& part : table_.parts)
    mixture.forms.push_back(part.kind == ProductKind::weights ? products : attention);
  return mixture;
}

Precision PrecisionSearch::uniform_entries(size_t base, size_t form) const {
  const DType values = table_.bases[base].values;
  if (base == 0 && form == 0) return {};
  PartPrecision whole{.labels = "*", .attention = form > 0 && bf16_form() ? DType::bf16 : DType::f32, .values = values};
  table_.forms[products_beside(base, form)].apply(whole);
  whole.cache = table_.forms[form].cache;
  return {whole};
}

const PrecisionSearch::TimedPlan* PrecisionSearch::plan_of(size_t base, size_t form) const {
  const auto found =
      std::ranges::find_if(plans_, [&](const TimedPlan& plan) { return plan.base == base && plan.form == form; });
  return found == plans_.end() ? nullptr : &*found;
}

const PrecisionSearch::Whole* PrecisionSearch::uniform_whole(size_t base, size_t form) const {
  const auto found = std::ranges::find_if(wholes_, [&](const Whole& whole) {
    return whole.mixture.base == base && whole.mixture.forms == uniform(base, form).forms;
  });
  return found == wholes_.end() ? nullptr : &*found;
}

Status PrecisionSearch::time_plain_forms() {
  RUNG_CHECK(time_forms(0));
  table_.parts = rung::parts_of(products_);
  table_.squared_error.assign(table_.parts.size(), std::vector<double>(table_.forms.size(), kNotMeasured));
  for (auto& errors : table_.squared_error) errors[0] = 0;
  fill_times();
  for (Whole& whole : wholes_) whole.mixture = uniform(whole.mixture.base, whole.mixture.forms[0]);
  return {};
}

Status PrecisionSearch::time_forms(size_t first_form) {
  const size_t count = table_.bases.size() * table_.forms.size();
  for (size_t base = 0; base < table_.bases.size(); ++base)
    for (size_t form = first_form; form < table_.forms.size(); ++form) {
      const std::string name = fmt::format("{}, values in {}", table_.forms[form].name, table_.bases[base].values);
      RUNG_CHECK(services_.tell(fmt::format("precision: all {}", name)));
      if (!has_time_beside(plans_.size() > 1 ? kTimesShare : 0))
        note(fmt::format("all {}: there was no time to measure it", name));
      else
        RUNG_CHECK(time_form(base, form, seconds_ / static_cast<double>(count)));
    }
  return {};
}

// The plan to begin with is the one of f32, and is no whole to be raced with itself.
Status PrecisionSearch::time_form(size_t base, size_t form, double seconds) {
  if (base == 0 && form == 0) return keep_times(base, form, *services_.start);
  const int64_t began = now_ns();
  const std::string name = fmt::format("all {}, values in {}", table_.forms[form].name, table_.bases[base].values);
  RUNG_CHECK(calibrate_form(base, form));
  auto recipe = tuned(with(uniform_entries(base, form)), kFormsTuningShare * seconds);
  if (!recipe) return note(fmt::format("{}: cannot be built: {}", name, recipe.error().message)), Status{};
  RUNG_TRY(auto attempt, built(*recipe, name));
  if (!attempt) return {};
  RUNG_CHECK(keep_times(base, form, *attempt));
  MixedPrecision mixture{.base = base, .forms = {form}};  // of one part, until the parts are known
  if (!table_.parts.empty()) mixture = uniform(base, form);
  RUNG_CHECK(add_whole(std::move(*attempt), std::move(mixture), name));
  trial_s_ = std::max(trial_s_, static_cast<double>(now_ns() - began) * 1e-9 - kFormsTuningShare * seconds);
  return {};
}

Status PrecisionSearch::keep_times(size_t base, size_t form, const Attempt& attempt) {
  const double seconds = std::min(
      kMostTimingSeconds, kTimingShare * seconds_ / static_cast<double>(table_.bases.size() * table_.forms.size()));
  RUNG_TRY(const std::vector<double> us, launch_us(*attempt.session, services_.inputs->front(), seconds));
  const Graph& model = services_.bench->subject().model.graph;
  RUNG_TRY(const Graph passed,
           passed_in_own_types(model, attempt.recipe, {.target = &services_.bench->target(), .contents = false}));
  TimedPlan plan{base, form, product_launches(*attempt.plan, us), 0};
  for (const auto& products : {product_groups(model, passed), plan.launches})
    products_.insert(products_.end(), products.begin(), products.end());
  plan.other_us = std::accumulate(us.begin(), us.end(), 0.0);
  for (const ProductLaunch& launch : plan.launches) plan.other_us -= launch.us;
  plans_.push_back(std::move(plan));
  return {};
}

// Fills in the times of all parts. Launches without products that a form adds or saves, such as casts, are shared among
// its parts by their time: so the times of a plan add up to what was measured of it.
void PrecisionSearch::fill_times() {
  const std::optional<size_t> bf16 = bf16_form();
  for (size_t base = 0; base < table_.bases.size(); ++base) {
    ValuesTimes& times = table_.bases[base];
    times.part_us.assign(table_.parts.size(), std::vector<double>(table_.forms.size(), kNotMeasured));
    const TimedPlan* own = plan_of(base, base == 0 ? 0 : *bf16);
    if (!own) {
      times.squared_error.reset();
      continue;
    }
    times.rest_us = own->other_us;
    for (const TimedPlan& plan : plans_) {
      if (plan.base != base) continue;
      const double in_parts = std::accumulate(plan.launches.begin(), plan.launches.end(), 0.0,
                                              [](double sum, const ProductLaunch& launch) { return sum + launch.us; });
      const double factor = in_parts > 0 ? std::max(0.0, 1 + (plan.other_us - own->other_us) / in_parts) : 1;
      for (size_t part = 0; part < table_.parts.size(); ++part) {
        if (!is_form_of(table_.parts[part].kind, plan.form)) continue;
        double us = 0;
        for (const ProductLaunch& launch : plan.launches)
          if (table_.parts[part].covers(launch)) us += launch.us;
        times.part_us[part][plan.form] = factor * us;
      }
    }
  }
}

}  // namespace rung
