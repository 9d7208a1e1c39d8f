// Adds sizes of what linears read to the outputs of a plan, and runs it.
// SPDX-License-Identifier: Apache-2.0
#include "open/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "base/log.hpp"
#include "base/words.hpp"
#include "ir/quantised.hpp"
#include "measure/cuts.hpp"
#include "measure/sizes.hpp"
#include "open/calibration_source.hpp"
#include "open/inputs.hpp"
#include "plan/build.hpp"
#include "session/sequence_start.hpp"

namespace rung {
namespace {

constexpr std::string_view kPrefix = "calibration.";
constexpr const char* kSmoothing = "smooth_products";
constexpr const char* kQuantising = "quantise_products";  // the pass that reads what is measured
constexpr int64_t kMostElements = int64_t{1} << 26;       // of whole values that one plan gives

// A linear whose x is measured; several may have one label.
struct Measured {
  std::string label;
  NodeId x;
};

// Returns the linears with constant weights that read computed values.
std::vector<Measured> measured_linears(const Graph& graph) {
  const auto constant = constant_nodes(graph);
  std::vector<Measured> all;
  for (NodeId id : graph.order()) {
    const auto& operands = graph[id].operands;
    if (graph.as<Linear>(id) && !graph[id].label.empty() && constant[operands[1]] && !constant[operands[0]])
      all.push_back({graph[id].label, operands[0]});
  }
  return all;
}

// Drops linears of which another of the same label has another number of channels: the label names none.
std::vector<Measured> of_one_width(const Graph& graph, const std::vector<Measured>& linears) {
  std::map<std::string, std::set<int64_t>> widths;
  for (const Measured& one : linears) widths[one.label].insert(graph.shape(one.x).back());
  std::vector<Measured> some;
  for (const Measured& one : linears)
    if (widths[one.label].size() == 1) some.push_back(one);
  return some;
}

NodeId sizes_in_f32(Graph& graph, NodeId x) {
  if (graph.type(x).dtype != DType::f32) x = graph.add(Cast{DType::f32}, {x});
  return graph.add(Unary{UnaryKind::abs}, {x});
}
// x => max |x|, of all elements, or of each element of the last axis
NodeId largest_of(Graph& graph, NodeId x, int64_t columns) {
  x = sizes_in_f32(graph, x);
  x = graph.add(Reshape{Shape{graph.type(x).elements() / columns, columns}}, {x});
  return graph.add(Reduce{.kind = ReduceKind::max, .axis = 0}, {x});
}

// x => the sums of squared errors of x in i8, with scales that fit each of kCuts times `largest`
NodeId cut_errors_of(Graph& graph, NodeId x, float largest) {
  // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
  constexpr const char* kSquaredError =
      "r3=mul(r0,r1);r4=max(r3,-127);r5=min(r4,127);r6=add(r5,12582912);r7=sub(r6,12582912);r8=mul(r7,r2);"
      "r9=sub(r0,r8);r10=mul(r9,r9)";
  const int64_t elements = graph.type(x).elements();
  std::vector<NodeId> sums;
  for (const float cut : kCuts) {
    const float scale = cut * largest / rung::largest_of(DType::i8);
    const NodeId inverse = graph.literal("inverse", Tensor::of<float>({}, {1 / scale}));
    const NodeId squares =
        graph.add(Pointwise{kSquaredError}, {x, inverse, graph.literal("scale", Tensor::of<float>({}, {scale}))});
    const NodeId column = graph.add(Reshape{Shape{elements, 1}}, {squares});
    sums.push_back(graph.add(Reduce{.kind = ReduceKind::sum, .axis = 0}, {column}));
  }
  return graph.add(Concat{0}, std::move(sums));
}

// The outputs that a measurement adds to a graph, and what it does with their values.
struct Measurement {
  std::vector<Measured> linears;
  std::function<NodeId(Graph&, const Measured&)> output;
  std::function<void(const Measured&, std::span<const float>)> take;
};

Status run_with(const CalibrationRuns& runs, const Recipe& recipe, Graph graph, const Measurement& measurement) {
  const std::vector<Measured>& linears = measurement.linears;
  for (size_t i = 0; i < linears.size(); ++i)
    graph.set_output(fmt::format("{}{}", kPrefix, i), measurement.output(graph, linears[i]));
  const Recipe as_it_is{.as_written = true, .capture = recipe.capture, .precision = {}, .threads = recipe.threads};
  RUNG_TRY(const auto all, runs.answers(graph, as_it_is));
  for (const NamedOutputs& answers : all)
    for (const auto& [name, value] : answers)
      if (name.starts_with(kPrefix))
        measurement.take(linears[std::stoul(name.substr(kPrefix.size()))], value.as<float>());
  return {};
}

Result<Graph> passed_without(const CalibrationRuns& runs, Recipe recipe, std::initializer_list<const char*> passes) {
  for (const char* pass : passes) recipe.disabled_passes.emplace(pass);
  return apply_passes(*runs.model, recipe, nullptr, {.target = runs.target});
}

// Splits off the linears of which a percentile is asked: whole values must come back for it, as many as memory holds.
std::vector<std::vector<Measured>> with_percentiles(const Graph& graph, const Precision& precision,
                                                    std::vector<Measured>& linears) {
  std::vector<std::vector<Measured>> runs;
  int64_t elements = kMostElements;
  std::erase_if(linears, [&](const Measured& linear) {
    if (precision_at(precision, linear.label).percentile >= 100) return false;
    elements += graph.type(linear.x).elements();
    if (elements > kMostElements) runs.emplace_back(), elements = graph.type(linear.x).elements();
    runs.back().push_back(linear);
    return true;
  });
  return runs;
}

// Returns the number of f32 closest to that of three digits: a recipe writes no more.
float rounded(float size) {
  if (!(size > 0) || !std::isfinite(size)) return size;
  const double unit = std::pow(10.0, std::floor(std::log10(size)) - 2);
  return static_cast<float>(std::round(size / unit) * unit);
}

// Runs plans of a directory's model one input after another.
Result<std::vector<NamedOutputs>> answers_of(const Opened& opened, const Graph& graph, const Recipe& recipe) {
  RUNG_TRY(Built built, build_plan(graph, recipe, {.target = opened.target}));
  attach_model(built.plan, *opened.subject);
  RUNG_TRY(Session session, open_session(std::make_shared<const Plan>(std::move(built.plan))));
  std::vector<NamedOutputs> all;
  for (const NamedTensors& inputs : verification_inputs(opened)) {
    if (opened.subject->start.begins(all.size())) RUNG_CHECK(begin_sequence(session, opened.subject->start));
    RUNG_TRY(all.emplace_back(), session.infer(inputs));
  }
  return all;
}

}  // namespace

Result<Calibration> measured_sizes(const CalibrationRuns& runs, const Recipe& recipe) {
  RUNG_TRY(const Graph passed, passed_without(runs, recipe, {kQuantising}));
  std::vector<Measured> linears = measured_linears(passed);
  Calibration sizes;
  for (auto& some : with_percentiles(passed, recipe.precision, linears)) {
    std::map<std::string, Sizes> counted;
    RUNG_CHECK(run_with(runs, recipe, passed,
                        {.linears = std::move(some),
                         .output = [](Graph& graph, const Measured& one) { return sizes_in_f32(graph, one.x); },
                         .take = [&](const Measured& one, std::span<const float> x) { counted[one.label].add(x); }}));
    for (const auto& [label, counts] : counted)
      sizes[label] = std::max(sizes[label], counts.at(precision_at(recipe.precision, label).percentile));
  }
  RUNG_CHECK(
      run_with(runs, recipe, passed,
               {.linears = std::move(linears),
                .output = [](Graph& graph, const Measured& one) { return largest_of(graph, one.x, 1); },
                .take = [&](const Measured& one,
                            std::span<const float> x) { sizes[one.label] = std::max(sizes[one.label], x[0]); }}));
  std::erase_if(sizes, [](const auto& one) { return !std::isfinite(one.second); });  // no scale fits these
  return sizes;
}

Status cut_sizes(const CalibrationRuns& runs, const Recipe& recipe, Calibration& sizes) {
  RUNG_TRY(const Graph passed, passed_without(runs, recipe, {kQuantising}));
  std::vector<Measured> linears = measured_linears(passed);
  std::erase_if(linears, [&](const Measured& one) {
    const LabelPrecision at = precision_at(recipe.precision, one.label);
    const auto size = sizes.find(one.label);
    return at.products != DType::i8 || at.percentile < 100 || size == sizes.end() || !std::isnormal(1 / size->second);
  });
  std::map<std::string, CutErrors> errors;
  RUNG_CHECK(run_with(
      runs, recipe, passed,
      {.linears = std::move(linears),
       .output = [&](Graph& graph, const Measured& one) { return cut_errors_of(graph, one.x, sizes.at(one.label)); },
       .take = [&](const Measured& one,
                   std::span<const float> sums) { errors[one.label].add(sums.first<kCuts.size()>()); }}));
  for (const auto& [label, of_label] : errors) sizes.at(label) *= of_label.best();
  return {};
}

Result<ChannelCalibration> measured_channels(const CalibrationRuns& runs, const Recipe& recipe) {
  RUNG_TRY(const Graph passed,
           passed_without(runs, recipe, {kSmoothing, "rotate_streams", "rotate_heads", kQuantising}));
  ChannelCalibration channels;
  RUNG_CHECK(run_with(
      runs, recipe, passed,
      {.linears = of_one_width(passed, measured_linears(passed)),
       .output = [](Graph& graph, const Measured& one) { return largest_of(graph, one.x, graph.shape(one.x).back()); },
       .take =
           [&](const Measured& one, std::span<const float> x) {
             std::vector<float>& most = channels[one.label];
             most.resize(std::max(most.size(), x.size()));
             for (size_t i = 0; i < x.size(); ++i) most[i] = std::max(most[i], rounded(x[i]));
           }}));
  std::erase_if(channels, [](const auto& one) {
    return !std::ranges::all_of(one.second, [](float size) { return std::isfinite(size); });
  });
  return channels;
}

Status drop_unsmoothed(const CalibrationRuns& runs, Recipe& recipe) {
  PassReport report;
  RUNG_CHECK(apply_passes(*runs.model, recipe, &report, {.target = runs.target}));
  for (const PassReport::Row& row : report.rows)
    for (const Miss& miss : row.misses)
      if (row.name == kSmoothing) recipe.channel_calibration.erase(miss.label);
  return {};
}

Calibration needed(const Calibration& calibration, const Precision& precision) {
  Calibration some;
  for (const auto& [label, largest] : calibration)
    if (is_quantised(precision_at(precision, label).products)) some[label] = largest;
  return some;
}

ChannelCalibration needed(const ChannelCalibration& channels, const Precision& precision) {
  ChannelCalibration some;
  for (const auto& [label, largest] : channels)
    if (const LabelPrecision at = precision_at(precision, label); is_quantised(at.products) && at.smooth > 0)
      some[label] = largest;
  return some;
}

OutlierColumns largest_columns(const ChannelCalibration& channels, const Precision& precision) {
  OutlierColumns columns;
  for (const auto& [label, sizes] : channels) {
    const LabelPrecision at = precision_at(precision, label);
    const int64_t count = std::min(at.outliers, std::ssize(sizes) - 1);
    if (at.products != DType::i8 || count < 1) continue;
    Columns all(sizes.size());
    std::iota(all.begin(), all.end(), 0);
    std::ranges::stable_sort(all, std::greater{}, [&](int64_t column) { return sizes[static_cast<size_t>(column)]; });
    all.resize(static_cast<size_t>(count));
    std::ranges::sort(all);
    columns[label] = std::move(all);
  }
  return columns;
}

Result<Recipe> calibrated(Recipe recipe, const Opened& opened) {
  const auto any = [&](auto asks) { return std::ranges::any_of(recipe.precision, asks); };
  const bool smooths =
      recipe.channel_calibration.empty() && any([](const PartPrecision& part) { return part.smooth.value_or(0) > 0; });
  const bool outliers =
      recipe.outlier_columns.empty() && any([](const PartPrecision& part) { return part.outliers.value_or(0) > 0; });
  const bool sizes =
      recipe.calibration.empty() && any([](const PartPrecision& part) { return part.percentile.has_value(); });
  if (!smooths && !outliers && !sizes) return recipe;
  const CalibrationRuns runs{
      &opened.subject->model.graph, opened.target,
      [&](const Graph& graph, const Recipe& as_it_is) { return answers_of(opened, graph, as_it_is); }};
  if (smooths || outliers) {
    RUNG_TRY(const auto measured, measured_channels(runs, recipe));
    if (outliers) recipe.outlier_columns = largest_columns(measured, recipe.precision);
    if (smooths) recipe.channel_calibration = needed(measured, recipe.precision);
    if (smooths) RUNG_CHECK(drop_unsmoothed(runs, recipe));
  }
  if (sizes) {
    RUNG_TRY(const auto measured, measured_sizes(runs, recipe));
    recipe.calibration = needed(measured, recipe.precision);
  }
  const std::vector<NamedTensors> inputs = verification_inputs(opened);
  RUNG_TRY(recipe.calibrated_on, calibration_source(*runs.model, inputs));
  log(0, "the recipe lacked the sizes of values, which were measured on {}; a plan keeps them in its recipe",
      words::counted(inputs.size(), "input"));
  return recipe;
}

}  // namespace rung
