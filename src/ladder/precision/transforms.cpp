// Forms of integers whose values are made alike before they are rounded, where a model has channels that are much
// larger than the others; and the sizes of values that forms with static scales must know.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "ir/text.hpp"
#include "ladder/precision/search.hpp"
#include "open/calibration_source.hpp"

namespace rung {
namespace {

constexpr double kSmooth = 0.5;           // channels and their columns of weights become alike
constexpr double kPercentile = 99.9;      // of |x|
constexpr float kOutlier = 8;             // times as large as half of the others: three of seven bits
constexpr float kStandsOut = 3;           // times as large as the others: more than one of seven bits
constexpr int64_t kOutliers[] = {2, 8};   // columns that keep their type: each takes time
constexpr float kFar = 4;                 // times the percentile: two of seven bits
constexpr double kTransformsShare = 0.4;  // of the search's time, left to the stages that follow
constexpr double kTransformTrials = 8;    // plain ones take no longer than one of these

// Returns how much larger the largest of the channels is than the one in the middle; 1 where that is zero.
float outlier_in(std::vector<float> channels) {
  if (channels.empty()) return 1;
  const auto middle = channels.begin() + static_cast<std::ptrdiff_t>(channels.size() / 2);
  std::ranges::nth_element(channels, middle);
  return *middle > 0 ? *std::ranges::max_element(channels) / *middle : 1;
}

// Returns whether the largest channel is much larger than all but the `outliers` largest ones.
bool stand_out(std::vector<float> channels, int64_t outliers) {
  if (std::ssize(channels) <= outliers) return false;
  const auto next = channels.begin() + outliers;
  std::ranges::nth_element(channels, next, std::greater{});
  return outliers > 0 && *std::max_element(channels.begin(), next) >= kStandsOut * *next;
}

}  // namespace

CalibrationRuns PrecisionSearch::calibration_runs() const {
  Workbench& bench = *services_.bench;
  const auto answers = [&bench](const Graph& graph, const Recipe& recipe) -> Result<std::vector<NamedOutputs>> {
    RUNG_TRY(const auto session, bench.session_of(graph, recipe));
    return bench.judge().answers_of(*session);
  };
  return {&bench.subject().model.graph, &bench.target(), answers};
}

// Returns the text of the graph in which all products have that form.
Result<std::string> PrecisionSearch::passed_in(size_t form) const {
  RUNG_TRY(const Graph graph, apply_passes(services_.bench->subject().model.graph, with(uniform_entries(0, form)),
                                           nullptr, {.target = &services_.bench->target()}));
  return print(graph);
}

// Adds a form, unless the passes make the same of it as of the plain one.
Status PrecisionSearch::add_transformed(PrecisionForm form, size_t plain) {
  table_.forms.push_back(std::move(form));
  RUNG_TRY(const std::string before, passed_in(plain));
  RUNG_TRY(const std::string after, passed_in(table_.forms.size() - 1));
  if (before != after) return {};
  note(fmt::format("{}: no product would read other values", table_.forms.back().name));
  table_.forms.pop_back();
  return {};
}

// Returns whether the form does no more for a part than the plain one.
bool PrecisionSearch::is_idle(size_t part, size_t form) const {
  const auto covers = [&](const auto& one) {
    return table_.parts[part].covers({table_.parts[part].kind, {one.first}, 0});
  };
  if (const int64_t outliers = table_.forms[form].outliers; outliers > 0)
    return std::ranges::none_of(channels_,
                                [&](const auto& one) { return covers(one) && stand_out(one.second, outliers); });
  return table_.forms[form].smooth > 0 && std::ranges::none_of(smoothed_channels_, covers);
}

// A plan of these forms is no faster than the plain one, and rotating all weights takes many times as long as building
// that: so they come when the errors of plain forms are known, and only where time abounds.
Status PrecisionSearch::try_transformed_forms() {
  if (services_.seconds_left() < kTransformsShare * seconds_ + kTransformTrials * trial_s_) {
    note("integers of smoothed, rotated or cut values: there was no time to measure them");
    return {};
  }
  const size_t plain_forms = table_.forms.size();
  RUNG_CHECK(add_transformed_forms());
  for (auto& errors : table_.squared_error) errors.resize(table_.forms.size(), kNotMeasured);
  RUNG_CHECK(time_forms(plain_forms));
  fill_times();
  return measure_errors(plain_forms);
}

// Floats of 8 bits have as many digits for small values as for large ones, so channels of different sizes cost them
// nothing. A value of integers has as few digits as the largest one beside it leaves.
Status PrecisionSearch::add_transformed_forms() {
  const auto found = std::ranges::find_if(table_.forms, [](const PrecisionForm& form) {
    return form.is_quantised_product() && form.is_at({.products = DType::i8});
  });
  if (found == table_.forms.end()) return {};
  const auto plain = static_cast<size_t>(found - table_.forms.begin());
  RUNG_CHECK(services_.tell("precision: the size of channels"));
  auto channels = measured_channels(calibration_runs(), with(uniform_entries(0, plain)));
  if (!channels && ends_climb(channels.error())) return tl::unexpected(channels.error());
  if (!channels) return note("channels are not measured: " + channels.error().message), Status{};
  channels_ = std::move(*channels);
  RUNG_TRY(calibrated_on_, calibration_source(services_.bench->subject().model.graph, *services_.inputs));
  RUNG_CHECK(add_outlier_forms(plain));
  RUNG_CHECK(add_percentile_form(plain));
  return add_mixed_forms(plain);
}

// A few columns that keep their type cost little, and the others then have finer steps.
Status PrecisionSearch::add_outlier_forms(size_t plain) {
  for (const int64_t outliers : kOutliers) {
    PrecisionForm form = table_.forms[plain];
    form.name += fmt::format(" beside {} columns", outliers), form.outliers = outliers;
    const auto stands_out = [&](const auto& one) { return stand_out(one.second, outliers); };
    Verdict verdict = multiplies_outliers(services_.bench->target(), services_.start->recipe.threads, outliers);
    if (verdict && std::ranges::none_of(channels_, stands_out))
      verdict = reject(fmt::format("no product reads {} channels of which one is {} times as large as all others",
                                   outliers, kStandsOut));
    if (verdict)
      RUNG_CHECK(add_transformed(std::move(form), plain));
    else
      note(fmt::format("{}: {}", form.name, verdict.reason));
  }
  return {};
}

Status PrecisionSearch::add_mixed_forms(size_t plain) {
  const std::string name = table_.forms[plain].name;
  float most = 1;
  for (const auto& [label, sizes] : channels_) most = std::max(most, outlier_in(sizes));
  if (most < kOutlier) {
    note(fmt::format(
        "{} smoothed or rotated: the largest channel is {:.1f} times the one in the middle, wanted {} for a gain", name,
        most, kOutlier));
    return {};
  }
  PrecisionForm smoothed = table_.forms[plain], rotated = smoothed;
  smoothed.name += " smoothed", smoothed.smooth = kSmooth;
  rotated.name += " rotated", rotated.rotate = true;
  PartPrecision whole{.labels = "*"};
  smoothed.apply(whole);
  smoothed_channels_ = channels_;
  Recipe recipe = with({whole});
  RUNG_CHECK(drop_unsmoothed(calibration_runs(), recipe));
  smoothed_channels_ = std::move(recipe.channel_calibration);
  RUNG_CHECK(add_transformed(std::move(smoothed), plain));
  return add_transformed(std::move(rotated), plain);
}

// A static scale that cuts a few values off is finer for all others.
Status PrecisionSearch::add_percentile_form(size_t plain) {
  PrecisionForm cut = table_.forms[plain];
  cut.name += fmt::format(" at {} %", kPercentile), cut.percentile = kPercentile;
  PartPrecision whole{.labels = "*"};
  cut.apply(whole);
  const auto sizes = measured_sizes(calibration_runs(), with({whole}));
  if (!sizes && ends_climb(sizes.error())) return tl::unexpected(sizes.error());
  const auto is_far = [&](const auto& one) {
    const auto largest = channels_.find(one.first);
    return largest != channels_.end() && *std::ranges::max_element(largest->second) > kFar * one.second;
  };
  if (!sizes || std::ranges::none_of(*sizes, is_far)) {
    note(fmt::format(
        "{}: {}", cut.name,
        sizes ? fmt::format("no value is more than {} times that percentile", kFar) : sizes.error().message));
    return {};
  }
  const size_t form = table_.forms.size();
  sizes_[form] = *sizes;
  RUNG_CHECK(add_transformed(std::move(cut), plain));
  if (table_.forms.size() == form) sizes_.erase(form);
  return {};
}

// Static scales are measured in plans that store values as those with such products will. Without them values are
// scaled row by row, as integers are where no floats of 8 bits are multiplied, unless a percentile is asked.
Status PrecisionSearch::calibrate_form(size_t base, size_t form) {
  const PrecisionForm& one = table_.forms[form];
  const bool has_floats =
      std::ranges::any_of(table_.forms, [](const PrecisionForm& other) { return is_f8(other.products); });
  if (!one.is_quantised_product() || (!has_floats && one.percentile == 100)) return {};
  if (!calibrated_on_) {
    RUNG_TRY(calibrated_on_, calibration_source(services_.bench->subject().model.graph, *services_.inputs));
  }
  RUNG_CHECK(services_.tell(fmt::format("precision: the size of values for {}", one.name)));
  const Recipe recipe = with(uniform_entries(base, form));
  auto measured = measured_sizes(calibration_runs(), recipe);
  if (measured && one.products == DType::i8) {
    if (auto cut = cut_sizes(calibration_runs(), recipe, *measured); !cut) measured = tl::unexpected(cut.error());
  }
  if (!measured && ends_climb(measured.error())) return tl::unexpected(measured.error());
  if (!measured) {
    return note(fmt::format("{}: values are scaled row by row: {}", one.name, measured.error().message)), Status{};
  }
  for (const auto& [label, size] : *measured) sizes_[form][label] = std::max(sizes_[form][label], size);
  return {};
}

}  // namespace rung
