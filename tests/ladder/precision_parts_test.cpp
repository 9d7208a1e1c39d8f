// Which products are one part, and the recipe's entries of a mixture.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ladder/precision/table.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ProductLaunch launch(std::set<std::string, std::less<>> labels, double us = 1) {
  return {ProductKind::weights, std::move(labels), us};
}

std::vector<std::vector<std::string>> scopes_of(const std::vector<PrecisionPart>& parts) {
  std::vector<std::vector<std::string>> scopes;
  for (const PrecisionPart& part : parts) scopes.push_back(part.scopes);
  return scopes;
}

std::vector<ProductLaunch> together(std::vector<ProductLaunch> a, const std::vector<ProductLaunch>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(PrecisionParts, HaveAllLayersAlike) {
  EXPECT_EQ(scope_of_layers("step.3.expert.layers.12.mlp"), "step.*.expert.layers.*.mlp");
  EXPECT_EQ(scope_of_layers("layer12.mlp"), "layer12.mlp");
  EXPECT_EQ(scope_of_layers("7"), "7") << "a star alone is the whole model";
  EXPECT_EQ(scope_of_layers(""), "");
}

TEST(PrecisionParts, JoinWhatAnyPlanComputesTogether) {
  const std::vector<ProductLaunch> apart{launch({"0.q"}),         launch({"0.k"}),  launch({"1.q"}),
                                         launch({"0.down", "0"}), launch({"head"}), launch({})};
  const std::vector<ProductLaunch> joined{launch({"0.q", "0.k"}), launch({"1.o", "1"})};
  EXPECT_THAT(scopes_of(parts_of(apart)),
              ElementsAre(ElementsAre("*.down", "0"), ElementsAre("*.k"), ElementsAre("*.q"), ElementsAre("head")));
  EXPECT_THAT(
      scopes_of(parts_of(together(apart, joined))),
      ElementsAre(ElementsAre("*.down", "0"), ElementsAre("*.k", "*.q"), ElementsAre("*.o", "1"), ElementsAre("head")));
}

TEST(PrecisionParts, KeepAttentionApartFromProductsWithWeights) {
  ProductLaunch scores = launch({"0.attention"});
  scores.kind = ProductKind::attention;
  const auto parts = parts_of({launch({"0.attention"}), scores});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].kind, ProductKind::weights);
  EXPECT_TRUE(parts[0].covers(launch({"3.attention"})));
  EXPECT_FALSE(parts[0].covers(scores));
  EXPECT_TRUE(parts[1].covers(scores));
  EXPECT_FALSE(parts[0].covers(launch({"3.attention.out"}))) << "a longer label is another op";
}

TEST(PrecisionParts, SplitByTheirLayers) {
  std::vector<ProductLaunch> launches;
  for (const char* step : {"0", "1"})
    for (const char* layer : {"0", "1", "2", "10"})
      launches.push_back(
          launch({fmt::format("step.{}.layers.{}.up", step, layer), fmt::format("step.{}.layers.{}", step, layer)}));
  const auto parts = parts_of(launches);
  ASSERT_EQ(parts.size(), 1u);
  const auto halves = halves_of(parts[0], launches);
  EXPECT_THAT(
      scopes_of(halves),
      ElementsAre(ElementsAre("step.*.layers.0", "step.*.layers.0.up", "step.*.layers.1", "step.*.layers.1.up"),
                  ElementsAre("step.*.layers.10", "step.*.layers.10.up", "step.*.layers.2", "step.*.layers.2.up")));
  const std::vector<ProductLaunch> one{launch({"head"})};
  EXPECT_THAT(halves_of(parts_of(one)[0], one), IsEmpty());
}

// In either type: narrowing makes other ops of all, whose labels stay.
TEST(PrecisionParts, ComeFromThePlansProducts) {
  const Graph model = graph_of(
      "x: f32[1,2,8] = input()\nwq: f32[8,8] = constant()\nwk: f32[8,8] = constant()\n"
      "n = softmax(x)  # layer.0.norm\nq = linear(n, wq)  # layer.0.q\nk = linear(n, wk)  # layer.0.k\n"
      "s = matmul(q, transpose(k, permutation=[0,2,1]))  # layer.0.scores\n"
      "p = softmax(s)  # layer.0.weights\ny = matmul(p, n)  # layer.0.core\nz = softmax(y)\nreturn z=z");
  for (const Precision& precision : {Precision{}, everywhere(DType::bf16)}) {
    Recipe recipe{.rungs = {"projection"}, .precision = precision};
    if (!precision.empty()) recipe.rungs.insert("precision");
    auto built = build_plan(model, recipe, {.contents = false});
    ASSERT_TRUE(built) << built.error().message;
    std::vector<double> us(built->plan.steps.size(), 1);
    const auto launches = product_launches(built->plan, us);
    EXPECT_EQ(launches.size(), 3u);
    const auto parts = parts_of(together(product_groups(model, *passed_in_own_types(model, recipe, {})), launches));
    EXPECT_THAT(scopes_of(parts), ElementsAre(ElementsAre("layer.*.k", "layer.*.q"), ElementsAre("layer.*.core"),
                                              ElementsAre("layer.*.scores")));
    for (const ProductLaunch& launch : launches)
      EXPECT_EQ(std::ranges::count_if(parts, [&](const PrecisionPart& part) { return part.covers(launch); }), 1);
  }
}

// Passes make a batch of these towers, in which each weight is still there.
TEST(PrecisionParts, FindProductsByTheirWeights) {
  const Graph model = graph_of(
      "w: f32[4,4] = constant()\nv: f32[4,4] = constant()\n"
      "a: f32[1,3,4] = input()\nb: f32[1,3,4] = input()\n"
      "h0 = linear(a, w)  # camera.0.h\nh1 = linear(b, w)  # camera.1.h\n"
      "e0 = exp(h0)  # camera.0.e\ne1 = exp(h1)  # camera.1.e\n"
      "o0 = linear(e0, v)  # camera.0.o\no1 = linear(e1, v)  # camera.1.o\ny = concat(o0, o1, axis=1)\nreturn y=y");
  const auto groups = product_groups(model, *passed_in_own_types(model, {.rungs = {"reduce"}}, {}));
  EXPECT_THAT(scopes_of(parts_of(groups)), ElementsAre(ElementsAre("camera.*.h"), ElementsAre("camera.*.o")));
}

// Two parts of which one's label begins the other's, and attention.
class MixtureEntries : public ::testing::Test {
 protected:
  MixtureEntries() {
    table.forms = {{"f32", DType::f32, {}},
                   {"bf16", DType::bf16, {}},
                   {"f8e4m3fn", DType::f8e4m3fn, {}},
                   {"i8 weights", DType::bf16, WeightForm{DType::i8}},
                   {"f8e4m3fn cache", DType::bf16, {}, DType::f8e4m3fn}};
    for (const char* layer : {"0", "1"}) {
      launches.push_back(launch({fmt::format("layers.{}", layer), fmt::format("layers.{}.down", layer)}));
      launches.push_back(launch({fmt::format("layers.{}.up", layer)}));
      launches.push_back({ProductKind::attention, {fmt::format("layers.{}.core", layer)}, 1});
    }
    table.parts = parts_of(launches);
    table.bases = {{.values = DType::f32, .squared_error = 0, .part_us = {}},
                   {.values = DType::bf16, .squared_error = 1e-6, .part_us = {}}};
  }
  Precision entries(size_t base, std::vector<size_t> forms) const {
    return entries_of(table, {base, std::move(forms)}, launches);
  }
  PrecisionTable table;
  std::vector<ProductLaunch> launches;
};

TEST_F(MixtureEntries, AreNoneWhereAllIsWide) { EXPECT_THAT(entries(0, {0, 0, 0}), IsEmpty()); }

TEST_F(MixtureEntries, AreOneForAUniformPrecision) { EXPECT_EQ(entries(1, {1, 1, 1}), everywhere(DType::bf16)); }

TEST_F(MixtureEntries, GiveEveryLabelItsPartsForm) {
  ASSERT_THAT(table.parts[0].scopes, ElementsAre("layers.*", "layers.*.down"));
  for (size_t base : {0, 1})
    for (size_t down = 0; down < 4; ++down)
      for (size_t up = 0; up < 4; ++up)
        for (size_t core : {0, 1, 4}) {
          const Precision precision = entries(base, {down, up, core});
          EXPECT_LE(precision.size(), 4u);
          const auto at = [&](const char* label) { return precision_at(precision, label); };
          for (const char* label : {"layers.0", "layers.1.down"}) {
            EXPECT_EQ(at(label).products, table.forms[down].products) << down << up << core;
            EXPECT_EQ(at(label).weights, table.forms[down].weights);
          }
          EXPECT_EQ(at("layers.1.up").products, table.forms[up].products) << down << up << core;
          EXPECT_EQ(at("layers.1.up").weights, table.forms[up].weights);
          EXPECT_EQ(at("layers.0.core").attention, table.forms[core].products);
          EXPECT_EQ(at("layers.0.core").cache, table.forms[core].cache.value_or(DType::f32)) << down << up << core;
          EXPECT_EQ(at("layers.0.up").values, table.bases[base].values);
        }
}

TEST_F(MixtureEntries, LeaveLaunchesWithoutALabelWide) {
  launches.push_back(launch({}));
  const Precision precision = entries(0, {1, 1, 1});
  EXPECT_EQ(precision_at(precision, "").products, DType::f32);
  EXPECT_EQ(precision_at(precision, "layers.0.up").products, DType::bf16);
}

TEST(MixedFrontier, TakesTheBetterValuesAtEachError) {
  PrecisionTable table;
  table.forms = {{"f32", DType::f32, {}}, {"bf16", DType::bf16, {}}};
  table.parts = {{ProductKind::weights, {"a"}}, {ProductKind::weights, {"b"}}};
  table.squared_error = {{0, 4}, {0, NAN}};  // b in bf16 was not measured
  table.bases = {{.values = DType::f32, .rest_us = 10, .squared_error = 0, .part_us = {{20, 12}, {5, 1}}},
                 {.values = DType::bf16, .rest_us = 4, .squared_error = 3, .part_us = {{19, 8}, {5, 1}}}};
  EXPECT_EQ(table.stake(0, 1), 11);
  const auto frontier = mixed_frontier(table);
  ASSERT_TRUE(frontier) << frontier.error().message;
  ASSERT_EQ(frontier->size(), 4u);
  const auto point = [&](size_t i) {
    return std::tuple((*frontier)[i].base, (*frontier)[i].forms, frontier->choices[i].us);
  };
  using Forms = std::vector<size_t>;
  EXPECT_EQ(point(0), std::tuple(size_t{0}, Forms({0, 0}), 35.0));
  EXPECT_EQ(point(1), std::tuple(size_t{1}, Forms({0, 0}), 28.0));
  EXPECT_EQ(point(2), std::tuple(size_t{0}, Forms({1, 0}), 27.0));
  EXPECT_EQ(point(3), std::tuple(size_t{1}, Forms({1, 0}), 17.0));
}

}  // namespace
}  // namespace rung
