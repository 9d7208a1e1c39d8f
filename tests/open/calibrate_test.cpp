// Recipes that ask for smoothed, rotated or cut values get what they lack by measurement, and the error falls where
// some channels are much larger than others.
// SPDX-License-Identifier: Apache-2.0
#include "open/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "measure/cuts.hpp"
#include "open/calibration_source.hpp"
#include "open/inputs.hpp"
#include "open/recipe.hpp"
#include "plan/build.hpp"
#include "session/session.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

constexpr float kOutlier = 30;

bool reads_a_norm(std::string_view weight) {
  for (const char* product : {"q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"})
    if (weight.find(product) != std::string_view::npos) return true;
  return false;
}

// Makes a few channels behind norms that many times as large, and their columns of weights as much smaller: the model
// gives the same answers as before.
void make_outliers(Graph& graph) {
  for (NodeId id : graph.order()) {
    if (!graph.is_constant(id)) continue;
    const std::string& name = graph.weight(id)->name();
    const bool is_norm = name.find("layernorm.weight") != std::string::npos;
    if (!is_norm && !reads_a_norm(name)) continue;
    const Tensor loaded = *graph.weight(id)->load();  // a part of the file
    Tensor value(loaded.type());
    std::ranges::copy(loaded.as<float>(), value.as<float>().begin());
    const auto columns = static_cast<size_t>(value.shape().back());
    for (size_t i = 0; i < value.as<float>().size(); ++i)
      if (i % columns == 3 || i % columns == 11) value.as<float>()[i] *= is_norm ? kOutlier : 1 / kOutlier;
    Insertion here(graph, id);
    graph.replace_uses(id, graph.literal(name, value));
  }
}

// A tiny Llama of two layers, some of whose channels are 30 times as large as others.
class Outliers : public ::testing::Test {
 protected:
  Outliers() {
    auto open = open_model(
        {.path = std::string(RUNG_TEST_DATA) + "/checkpoints/llama", .threads = 1, .shapes = {{"input_ids", {1, 8}}}});
    EXPECT_TRUE(open) << open.error().message;
    opened = std::move(*open);
    make_outliers(opened.subject->model.graph);
    opened.subject->reference = opened.subject->model.graph;
  }

  static Recipe in(const PartPrecision& part) {
    Recipe recipe = default_recipe(1, DType::bf16);
    recipe.precision = {part};
    return recipe;
  }
  // Returns the recipe with what it lacked.
  Recipe completed(const PartPrecision& part) const {
    auto recipe = calibrated(in(part), opened);
    EXPECT_TRUE(recipe) << recipe.error().message;
    return recipe ? *recipe : in(part);
  }
  std::vector<Tensor> answers_of(const Recipe& recipe) const {
    auto plan = build_subject(*opened.subject, recipe, *opened.target);
    EXPECT_TRUE(plan) << plan.error().message;
    auto session = open_session(*plan);
    EXPECT_TRUE(session) << session.error().message;
    std::vector<Tensor> answers;
    for (const NamedTensors& inputs : verification_inputs(opened)) {
      const auto got = session->infer(inputs);
      EXPECT_TRUE(got) << got.error().message;
      answers.push_back(got->front().second);
    }
    return answers;
  }
  // Returns the largest error of the answers to all inputs.
  double error_of(const Recipe& recipe) const {
    double largest = 0;
    const std::vector<NamedTensors> inputs = verification_inputs(opened);
    const std::vector<Tensor> got = answers_of(recipe);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto want = evaluate_sequence(opened.subject->reference, {inputs[i]});
      EXPECT_TRUE(want) << want.error().message;
      largest = std::max(largest, relative_l2(got[i], want->front().outputs.front()));
    }
    return largest;
  }

  Opened opened;
  const PartPrecision plain{.labels = "*", .products = DType::i8},
      smooth{.labels = "*", .products = DType::i8, .smooth = 0.5},
      rotated{.labels = "*", .products = DType::i8, .rotate = true},
      cut{.labels = "*", .products = DType::i8, .percentile = 99.0},
      beside{.labels = "*", .products = DType::i8, .outliers = 2};
};

TEST_F(Outliers, CostLessOnceSmoothed) {
  const double before = error_of(in(plain)), after = error_of(completed(smooth));
  RecordProperty("before", fmt::format("{:.4f}", before));
  RecordProperty("after", fmt::format("{:.4f}", after));
  EXPECT_LT(after, 0.2 * before);
}

TEST_F(Outliers, CostLessInTheirOwnType) {
  const double before = error_of(in(plain)), after = error_of(completed(beside));
  RecordProperty("after", fmt::format("{:.4f}", after));
  EXPECT_LT(after, 0.2 * before);
}

// The two channels that were made large, by each product that reads a norm; the recipe alone builds the plan again.
TEST_F(Outliers, AreTheColumnsOfTheRecipe) {
  const Recipe recipe = completed(beside);
  for (const char* label : {"layers.0.self_attn.q_proj", "layers.1.self_attn.q_proj"}) {
    ASSERT_TRUE(recipe.outlier_columns.contains(label)) << label;
    EXPECT_EQ(recipe.outlier_columns.at(label), (Columns{3, 11})) << label;
  }
  EXPECT_TRUE(recipe.channel_calibration.empty() && recipe.calibration.empty()) << "nothing else was asked for";
  auto read = parse_recipe(recipe_text(recipe));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*calibrated(*read, opened), recipe);
  EXPECT_EQ(error_of(*read), error_of(recipe));
  Recipe other = recipe;
  other.calibrated_on->weights = "0";
  EXPECT_THAT(recipe_of(opened, other, {}).error().message,
              HasSubstr("'outlier_columns': it was measured with weights of hash 0"));
}

TEST_F(Outliers, ColumnsAreRefusedByName) {
  const std::string label = "layers.0.self_attn.q_proj";
  const auto refusal = [&](const PartPrecision& part, const Columns& columns) {
    Recipe recipe = in(part);
    recipe.outlier_columns = {{label, columns}};
    const auto plan = build_subject(*opened.subject, recipe, *opened.target);
    return plan ? std::string() : plan.error().message;
  };
  EXPECT_EQ(refusal(beside, {3, 11}), "");
  EXPECT_THAT(refusal(beside, {3, 16}), HasSubstr("'" + label + "': got column 16, wanted columns below 16"));
  EXPECT_THAT(refusal(beside, {3, 11, 12}), HasSubstr("'" + label + "': got 3 columns, wanted at most 2"));
  PartPrecision mixed = beside, floats = beside;
  mixed.rotate = true, floats.products = DType::f8e4m3fn;
  EXPECT_THAT(refusal(mixed, {3}), HasSubstr("got outliers and channels that 'rotate' mixes, wanted one"));
  EXPECT_THAT(refusal(floats, {3}), HasSubstr("got outliers beside products of f8e4m3fn, wanted i8"));
}

TEST(LargestColumns, AreAsManyAsAPartAsksFor) {
  const ChannelCalibration channels{{"a", {1, 5, 5, 0, 7}}, {"b", {1, 2}}, {"c", {9, 1}}};
  const Precision precision{{.labels = "*", .products = DType::i8, .outliers = 2},
                            {.labels = "c", .products = DType::bf16, .outliers = 2}};
  EXPECT_EQ(largest_columns(channels, precision), (OutlierColumns{{"a", {1, 4}}, {"b", {1}}}));
}

// Factors are powers of two: where nothing is rounded to 8 bits, no digit of an answer changes.
TEST_F(Outliers, ChangeNoDigitOnceSmoothed) {
  Recipe before = in(plain), after = completed(smooth);
  for (Recipe* recipe : {&before, &after}) recipe->disabled_passes.emplace("quantise_products");
  const auto as_before = answers_of(before), smoothed = answers_of(after);
  for (size_t i = 0; i < as_before.size(); ++i) EXPECT_TRUE(same_bits(as_before[i], smoothed[i])) << i;
}

TEST_F(Outliers, AreMeasuredByChannel) {
  const Recipe recipe = completed(smooth);
  ASSERT_TRUE(recipe.channel_calibration.contains("layers.0.self_attn.q_proj"));
  const auto& channels = recipe.channel_calibration.at("layers.0.self_attn.q_proj");
  ASSERT_EQ(channels.size(), 16u);
  float others = 0;
  for (const size_t channel : {0, 1, 2, 4, 5}) others = std::max(others, channels[channel]);
  EXPECT_GT(channels[3], 3 * others);
  EXPECT_TRUE(recipe.calibration.empty()) << "rows have scales of their own";
  EXPECT_EQ(*recipe.calibrated_on, *calibration_source(opened.subject->model.graph, verification_inputs(opened)));
}

// Returns a model of an input x whose samples are random numbers, that many times as large.
Opened opened_graph(const std::string& text, float size) {
  Opened opened{.target = &cpu_target(), .subject = Subject{}};
  Model& model = opened.subject->model;
  model.graph = graph_of(text);
  const auto sample = [size](uint64_t seed) {
    Tensor values = random_tensor(std::to_string(seed), {DType::f32, {4, 32}});
    for (float& value : values.as<float>()) value *= size;
    return values;
  };
  model.defaults["x"] = {.type = {DType::f32, {4, 32}}, .sample = sample};
  return opened;
}
Recipe smoothed_recipe() {
  Recipe recipe = default_recipe(1, DType::bf16);
  recipe.precision = {{.labels = "*", .products = DType::i8, .smooth = 0.5}};
  return recipe;
}

// Two products of one label whose channels are not the same ones: neither is smoothed, and no plan fails.
TEST(ChannelsOfALabel, AreNoneWhereItsProductsDiffer) {
  const Opened opened = opened_graph(
      "x: f32[4,32] = input()\ng: f32[32] = constant()\nw: f32[64,32] = constant()\nv: f32[16,64] = constant()\n"
      "u: f32[16,16] = constant()\nn = rms_norm(x, g)  # norm\na = linear(n, w, activation=relu)  # same\n"
      "b = linear(a, v, activation=relu)  # same\ny = linear(b, u)  # other\nreturn y=y",
      1);
  const auto completed = calibrated(smoothed_recipe(), opened);
  ASSERT_TRUE(completed) << completed.error().message;
  ASSERT_EQ(completed->channel_calibration.size(), 1u);
  EXPECT_EQ(completed->channel_calibration.begin()->first, "other");
  EXPECT_TRUE(build_subject(*opened.subject, *completed, *opened.target));
}

TEST(ChannelsOfALabel, AreNoneWhereTheyAreInfinite) {
  const Opened opened = opened_graph(
      "x: f32[4,32] = input()\nw: f32[16,32] = constant()\nu: f32[16,16] = constant()\ns = square(x)  # square\n"
      "a = linear(s, w)  # up\ny = linear(a, u)  # down\nreturn y=y",
      1e30f);
  const auto completed = calibrated(smoothed_recipe(), opened);
  ASSERT_TRUE(completed) << completed.error().message;
  EXPECT_TRUE(completed->channel_calibration.empty());
  EXPECT_TRUE(parse_recipe(recipe_text(*completed)));
}

// The recipe alone says what was measured: the same plan comes of it, and nothing is measured again.
TEST_F(Outliers, AreKeptInTheRecipe) {
  const Recipe recipe = completed(smooth);
  auto read = parse_recipe(recipe_text(recipe));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, recipe);
  EXPECT_EQ(*calibrated(*read, opened), recipe);
  EXPECT_EQ(error_of(*read), error_of(recipe));
  Recipe other = recipe;
  other.calibrated_on->weights = "0";
  const auto refused = recipe_of(opened, other, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("'channel_calibration': it was measured with weights of hash 0"));
}

TEST_F(Outliers, AreCompletedWhereAPlanIsMade) {
  const auto recipe = recipe_of(opened, in(smooth), {});
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(*recipe, completed(smooth));
  EXPECT_EQ(*recipe_of(opened, in(plain), {}), in(plain)) << "nothing is asked for";
}

TEST_F(Outliers, CostLessOnceRotated) {
  const double before = error_of(in(plain)), after = error_of(in(rotated));
  RecordProperty("after", fmt::format("{:.4f}", after));
  EXPECT_LT(after, 0.2 * before);
  Recipe wide = in(rotated);
  wide.disabled_passes.emplace("quantise_products");
  EXPECT_LT(error_of(wide), 1e-5);
}

TEST_F(Outliers, AreCutAtAPercentile) {
  const Recipe recipe = completed(cut);
  ASSERT_FALSE(recipe.calibration.empty());
  PartPrecision all = cut;
  all.percentile = 100;
  const Recipe largest = completed(all);
  ASSERT_EQ(largest.calibration.size(), recipe.calibration.size());
  size_t less = 0;
  for (const auto& [label, size] : recipe.calibration) {
    EXPECT_LE(size, largest.calibration.at(label)) << label;
    less += size < largest.calibration.at(label);
  }
  EXPECT_GT(less, 0u);
}

// Returns the runs of plans of a model whose input x is given.
CalibrationRuns runs_on(const Opened& opened, const std::vector<Tensor>& given) {
  return {&opened.subject->model.graph, opened.target,
          [&opened, &given](const Graph& graph, const Recipe& recipe) -> Result<std::vector<NamedOutputs>> {
            RUNG_TRY(Built built, build_plan(graph, recipe, {.target = opened.target}));
            RUNG_TRY(Session session, open_session(std::make_shared<const Plan>(std::move(built.plan))));
            std::vector<NamedOutputs> all;
            for (const Tensor& x : given) {
              RUNG_TRY(all.emplace_back(), session.infer({{"x", x}}));
            }
            return all;
          }};
}
Recipe in_i8() {
  Recipe recipe = default_recipe(1, DType::f32);
  recipe.precision = {{.labels = "*", .products = DType::i8}};
  return recipe;
}
constexpr const char* kOneProduct =
    "x: f32[2048,32] = input()\nw: f32[16,32] = constant()\ny = linear(x, w)  # it\nreturn y=y";
double squared_error(const std::vector<Tensor>& given, float size) {
  double sum = 0;
  for (const Tensor& x : given)
    for (const float value : x.as<float>()) {
      const double scale = size / 127, rounded = scale * std::nearbyint(std::clamp(value / scale, -127.0, 127.0));
      sum += (value - rounded) * (value - rounded);
    }
  return sum;
}

// Cubes of random numbers have long tails: a size below the largest one errs less in all, by what the values tell.
TEST(CutSizes, AreThoseOfTheLeastError) {
  const Opened opened = opened_graph(kOneProduct, 1);
  std::vector<Tensor> given{random_tensor("a", {DType::f32, {2048, 32}}), random_tensor("b", {DType::f32, {2048, 32}})};
  for (Tensor& x : given)
    for (float& value : x.as<float>()) value *= value * value;
  Calibration sizes{{"it", 0}};
  for (const Tensor& x : given)
    for (const float value : x.as<float>()) sizes["it"] = std::max(sizes["it"], std::abs(value));
  const float largest = sizes["it"];
  const auto cut = cut_sizes(runs_on(opened, given), in_i8(), sizes);
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_LT(sizes["it"], largest);
  for (const float other : kCuts)
    EXPECT_LE(squared_error(given, sizes["it"]), squared_error(given, other * largest) * (1 + 1e-5)) << other;
}

TEST(CutSizes, StayWhereAPercentileIsAsked) {
  const Opened opened = opened_graph(kOneProduct, 1);
  Recipe recipe = in_i8();
  recipe.precision[0].percentile = 99;
  Calibration sizes{{"it", 2.5f}};
  ASSERT_TRUE(cut_sizes(runs_on(opened, {random_tensor("a", {DType::f32, {2048, 32}})}), recipe, sizes));
  EXPECT_EQ(sizes, (Calibration{{"it", 2.5f}}));
}

}  // namespace
}  // namespace rung
