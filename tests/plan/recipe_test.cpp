// Recipes as JSON: round trip and errors.
// SPDX-License-Identifier: Apache-2.0
#include "plan/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "passes/pipeline.hpp"
#include "support/temporary_directory.hpp"
#include "support/wrong_types.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

Recipe full() {
  Recipe recipe{.rungs = {"fusion", "attention", "precision"},
                .disabled_passes = {"fuse_attention"},
                .capture = true,
                .tuned_kernels = true,
                .precision = everywhere(DType::bf16),
                .threads = 2};
  recipe.choices["linear m=1"] = {"linear_avx2", {{"columns", 16}}};
  recipe.choices["linear m=2"] = {"linear_onednn", {}};
  return recipe;
}

TEST(Recipe, ComesBackFromItsJson) {
  auto back = recipe_from_json(to_json(full()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, full());
}

TEST(Recipe, SpellsOutOnlyTheParametersThatItHas) {
  EXPECT_EQ(to_json(full())["choices"], Json::parse(R"({
    "linear m=1": {"kernel": "linear_avx2", "params": {"columns": 16}}, "linear m=2": {"kernel": "linear_onednn"}})"));
}

TEST(Recipe, ComesBackFromItsFile) {
  TemporaryDirectory directory;
  ASSERT_TRUE(save_recipe(full(), directory / "recipe.json"));
  auto back = load_recipe(directory / "recipe.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, full());
}

TEST(Recipe, TellsWrongTypesInWords) {
  const auto read = [](const Json& json) {
    const auto recipe = recipe_from_json(json);
    return recipe ? std::string() : recipe.error().message;
  };
  EXPECT_GT(expect_words_for_wrong_types(to_json(full()), read), 60u);
}

TEST(Recipe, KeepsWhatItsCalibrationWasMeasuredOn) {
  Recipe recipe = full();
  recipe.calibration = {{"layer.0", 2.5f}};
  recipe.calibrated_on = {"00ff", "11ee"};
  EXPECT_EQ(to_json(recipe)["calibrated_on"], Json::parse(R"({"weights": "00ff", "inputs": "11ee"})"));
  auto back = recipe_from_json(to_json(recipe));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, recipe);
  EXPECT_FALSE(*back == full());
  EXPECT_FALSE(to_json(full()).contains("calibrated_on"));
}

TEST(Recipe, KeepsHowValuesAreMadeAlike) {
  const Json json = Json::parse(R"({"version": 1, "rungs": ["precision"], "precision": [
    {"labels": "*", "products": "i8", "smooth": 0.7},
    {"labels": "a", "products": "i8", "rotate": true, "percentile": 99.9}],
    "channel_calibration": {"a.b": [0.1, 3, 1e-7], "c": []}})");
  auto recipe = recipe_from_json(json);
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->precision[0].smooth, 0.7);
  EXPECT_EQ(recipe->precision[1].rotate, true);
  EXPECT_EQ(recipe->precision[1].percentile, 99.9);
  EXPECT_EQ(recipe->channel_calibration.at("a.b"), (std::vector<float>{0.1f, 3.0f, 1e-7f}));
  const Json written = to_json(*recipe);
  EXPECT_EQ(written["precision"], json["precision"]);
  EXPECT_EQ(written["channel_calibration"], json["channel_calibration"]) << "no digits but those of f32";
  EXPECT_EQ(*recipe_from_json(written), *recipe);
  EXPECT_FALSE(to_json(full()).contains("channel_calibration"));
}

TEST(Recipe, KeepsOutlierColumns) {
  const Json json = Json::parse(R"({"version": 1, "rungs": ["precision"], "precision": [
    {"labels": "*", "products": "i8", "outliers": 8}, {"labels": "a", "outliers": 0}],
    "outlier_columns": {"a.b": [0], "c": [3, 17, 1535]}})");
  auto recipe = recipe_from_json(json);
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(precision_at(recipe->precision, "c").outliers, 8);
  EXPECT_EQ(precision_at(recipe->precision, "a.b").outliers, 0);
  EXPECT_EQ(recipe->outlier_columns.at("c"), (Columns{3, 17, 1535}));
  const Json written = to_json(*recipe);
  EXPECT_EQ(written["precision"], json["precision"]);
  EXPECT_EQ(written["outlier_columns"], json["outlier_columns"]);
  EXPECT_EQ(*recipe_from_json(written), *recipe);
  EXPECT_FALSE(to_json(full()).contains("outlier_columns"));
}

// Products that a later entry makes begin without what an earlier one asked of others.
TEST(Recipe, EntriesWithProductsBeginPlain) {
  const Precision precision{
      {.labels = "*", .products = DType::i8, .smooth = 0.5, .rotate = true, .percentile = 99, .outliers = 4},
      {.labels = "a", .products = DType::i8},
      {.labels = "b", .rotate = false}};
  EXPECT_EQ(precision_at(precision, "c").smooth, 0.5);
  EXPECT_EQ(precision_at(precision, "a"), (LabelPrecision{.products = DType::i8}));
  EXPECT_EQ(precision_at(precision, "b").percentile, 99);
  EXPECT_FALSE(precision_at(precision, "b").rotate);
}

TEST(Recipe, TakesDefaultsForFieldsLeftOut) {
  auto recipe = recipe_from_json(Json{{"version", 1}});
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(*recipe, Recipe{});
}

Recipe in_parts() {
  Recipe recipe = full();
  recipe.precision = {{"*", DType::bf16, DType::bf16, DType::bf16},
                      {.labels = "encoder.layer.3", .values = DType::f32}};
  return recipe;
}

TEST(Recipe, SaysPrecisionInOneWordWhereItCan) {
  EXPECT_EQ(to_json(full())["precision"], "bf16");
  EXPECT_EQ(to_json(Recipe{})["precision"], "f32");
}

TEST(Recipe, ListsThePrecisionOfParts) {
  EXPECT_EQ(to_json(in_parts())["precision"], Json::parse(R"([
    {"labels": "*", "products": "bf16", "attention": "bf16", "values": "bf16"},
    {"labels": "encoder.layer.3", "values": "f32"}])"));
  auto back = recipe_from_json(to_json(in_parts()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, in_parts());
}

TEST(Recipe, ListsWeightsInGroups) {
  Recipe recipe = in_parts();
  recipe.precision.push_back({.labels = "head", .weights = WeightForm{DType::u8, 32}});
  recipe.precision.push_back({.labels = "tail", .weights = WeightForm{DType::i8, 64}});
  recipe.precision.push_back({.labels = "rest", .weights = WeightForm{DType::i8}});
  recipe.precision.push_back({.labels = "attention", .cache = DType::f8e4m3fn});
  const Json parts = to_json(recipe)["precision"];
  EXPECT_EQ(parts[2], Json::parse(R"({"labels": "head", "weights": "i4", "group": 32})"));
  EXPECT_EQ(parts[3], Json::parse(R"({"labels": "tail", "weights": "i8", "group": 64})"));
  EXPECT_EQ(parts[4], Json::parse(R"({"labels": "rest", "weights": "i8"})"));
  EXPECT_EQ(parts[5], Json::parse(R"({"labels": "attention", "cache": "f8e4m3fn"})"));
  auto back = recipe_from_json(to_json(recipe));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, recipe);
}

TEST(Recipe, TakesAListInPlaceOfItsWord) {
  Json json = to_json(full());
  json["precision"] = Json::parse(R"([{"labels": "*", "products": "bf16", "attention": "bf16", "values": "bf16"}])");
  auto listed = recipe_from_json(json);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(*listed, full());
}

// By construction: all that can be turned on or off by name is known by that name.
TEST(Recipe, KnowsEveryRungAndPass) {
  for (const auto passes : {canonical_passes(), pipeline()})
    for (const Pass& pass : passes) {
      Json json{{"version", 1}, {"disabled_passes", {pass.name}}};
      auto recipe = recipe_from_json(json);
      ASSERT_TRUE(recipe) << recipe.error().message;
      EXPECT_TRUE(recipe->disabled_passes.contains(pass.name));
    }
  for (const Pass& pass : pipeline()) {
    Json json{{"version", 1}, {"rungs", {pass.rung}}};
    if (pass.rung == "precision") json["precision"] = "bf16";
    auto recipe = recipe_from_json(json);
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_TRUE(recipe->rungs.contains(pass.rung));
  }
  EXPECT_FALSE(recipe_from_json(Json{{"version", 1}, {"rungs", {canonical_passes()[0].name}}}));
}

TEST(Recipe, HasAtMostATeamsNumberOfThreads) {
  for (const auto& [threads, sound] : {std::pair{0, true}, {1, true}, {1024, true}, {1025, false}})
    EXPECT_EQ(recipe_from_json(Json{{"version", 1}, {"threads", threads}}).has_value(), sound) << threads;
}

// Each alone makes another recipe.
TEST(Recipe, IsAnotherByAnyOfItsFields) {
  using Change = void (*)(Recipe&);
  const Change changes[] = {
      [](Recipe& r) { r.rungs.erase("fusion"); },
      [](Recipe& r) { r.disabled_passes.clear(); },
      [](Recipe& r) { r.capture = false; },
      [](Recipe& r) { r.tuned_kernels = false; },
      [](Recipe& r) { r.precision = {}; },
      [](Recipe& r) { r.precision[0].labels = "encoder"; },
      [](Recipe& r) { r.precision[0].products = DType::f32; },
      [](Recipe& r) { r.precision[0].attention.reset(); },
      [](Recipe& r) { r.precision[0].values = DType::f32; },
      [](Recipe& r) { r.threads = 3; },
      [](Recipe& r) { r.choices.erase("linear m=2"); },
      [](Recipe& r) { r.choices["linear m=1"].params["columns"] = 32; },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    Recipe other = full();
    changes[i](other);
    EXPECT_FALSE(other == full()) << "change " << i;
    EXPECT_NE(to_json(other), to_json(full())) << "change " << i;
  }
}

// A field that is missing has no value that an error could tell.
TEST(Recipe, SaysWhatIsMissing) {
  const auto empty = recipe_from_json(Json::object());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "recipe: field 'version' is missing, wanted 1");
  Json json = to_json(full());
  json.erase("precision");
  const auto recipe = recipe_from_json(json);
  ASSERT_FALSE(recipe);
  EXPECT_THAT(recipe.error().message, HasSubstr("field 'precision': got nothing with the rung 'precision'"));
}

struct BadField {
  const char *field, *value, *message;
};
class BadRecipe : public ::testing::TestWithParam<BadField> {};

TEST_P(BadRecipe, NamesTheFieldAndWhatItGot) {
  Json json = to_json(full());
  json[GetParam().field] = Json::parse(GetParam().value);
  auto recipe = recipe_from_json(json);
  ASSERT_FALSE(recipe);
  EXPECT_THAT(recipe.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    , BadRecipe,
    ::testing::Values(
        BadField{"sped", "1", "unknown field 'sped'"}, BadField{"version", "2", "got version 2, wanted 1"},
        BadField{"version", "\"1\"", "got version \"1\", wanted 1"}, BadField{"capture", "1", "field 'capture': got 1"},
        BadField{"rungs", "\"fusion\"", "field 'rungs'"}, BadField{"rungs", "[\"fusoin\"]", "'fusoin'"},
        BadField{"disabled_passes", "[\"fuse_all\"]", "no pass 'fuse_all'"},
        BadField{"threads", "1.5", "field 'threads': got 1.5"},
        BadField{"threads", "4294967297", "field 'threads': got 4294967297"},
        BadField{"threads", "true", "field 'threads': got true"}, BadField{"threads", "-1", "got -1, wanted 1 to 1024"},
        BadField{"precision", "\"i32\"", "got the string 'i32', wanted f32 or bf16"},
        BadField{"precision", "\"f16\"", "got the string 'f16', wanted f32 or bf16"},
        BadField{"precision", "\"f8e4m3fn\"", "got the string 'f8e4m3fn', wanted f32 or bf16"},
        BadField{"precision", "\"f32\"", "got f32 with the rung 'precision'"},
        BadField{"rungs", "[]", "got bf16 without the rung 'precision'"},
        BadField{"precision", "[]", "got f32 with the rung 'precision'"},
        BadField{"precision", R"([{"labels":"a","values":"f32"}])", "got f32 with the rung 'precision'"},
        BadField{"precision", R"([{"labels":"a","products":"f16"}])",
                 "got the string 'f16', wanted f32, bf16, f8e4m3fn, f8e4m3fnuz or i8"},
        BadField{"precision", R"([{"labels":"a","cache":"bf16"}])",
                 "field 'cache': got the string 'bf16', wanted f32, f8e4m3fn or f8e4m3fnuz"},
        BadField{"precision", R"([{"labels":"a","weights":"bf16"}])",
                 "field 'weights': got the string 'bf16', wanted f8e4m3fn, f8e4m3fnuz, i8 or i4"},
        BadField{"precision", R"([{"labels":"a","weights":"u8"}])", "field 'weights': got the string 'u8'"},
        BadField{"precision", R"([{"labels":"a","weights":"i4"}])", "got weights of i4 without a field 'group'"},
        BadField{"precision", R"([{"labels":"a","weights":"i4","group":48}])",
                 "field 'group': got 48, wanted a multiple of 32 up to 4096"},
        BadField{"precision", R"([{"labels":"a","weights":"i4","group":-32}])", "field 'group': got -32"},
        BadField{"precision", R"([{"labels":"a","weights":"i8","group":"32"}])", "field 'group': got the string '32'"},
        BadField{"precision", R"([{"labels":"a","weights":"f8e4m3fn","group":32}])",
                 "got 'group' beside weights of f8e4m3fn, wanted i8 or i4"},
        BadField{"precision", R"([{"labels":"a","values":"bf16","group":32}])",
                 "got a field 'group' without 'weights', wanted both or neither"},
        BadField{"precision", R"([{"labels":"a","values":"i8"}])", "got the string 'i8', wanted f32 or bf16"},
        BadField{"calibration", "[1]", "field 'calibration': got an array of 1, wanted an object"},
        BadField{"calibration", R"({"a":-1})", "'a': got -1, wanted the largest |x|"},
        BadField{"calibration", R"({"a":1e39})", "'a': got 1e+39, wanted the largest |x|"},
        BadField{"channel_calibration", "[1]", "field 'channel_calibration': got an array of 1, wanted an object"},
        BadField{"channel_calibration", R"({"a":1})", "'channel_calibration': 'a': got 1, wanted a list of the"},
        BadField{"channel_calibration", R"({"a":[1,"b"]})", "'a': channel 1: got \"b\", wanted the largest |x|"},
        BadField{"precision", R"([{"labels":"a","products":"i8","smooth":1.5}])",
                 "entry 0: field 'smooth': got 1.5, wanted a number from 0 to 1"},
        BadField{"precision", R"([{"labels":"a","products":"i8","smooth":true}])",
                 "entry 0: field 'smooth': got true, wanted a number from 0 to 1"},
        BadField{"precision", R"([{"labels":"a","products":"i8","percentile":10}])",
                 "entry 0: field 'percentile': got 10, wanted a number from 50 to 100"},
        BadField{"precision", R"([{"labels":"a","products":"i8","rotate":1}])",
                 "entry 0: field 'rotate': got 1, wanted true or false"},
        BadField{"precision", R"([{"labels":"a","products":"i8","outliers":-1}])",
                 "entry 0: field 'outliers': got -1, wanted a whole number from 0 to 64"},
        BadField{"precision", R"([{"labels":"a","products":"i8","outliers":65}])", "field 'outliers': got 65"},
        BadField{"precision", R"([{"labels":"a","products":"i8","outliers":1.5}])", "field 'outliers': got 1.5"},
        BadField{"outlier_columns", "[1]", "field 'outlier_columns': got an array of 1, wanted an object"},
        BadField{"outlier_columns", R"({"a":3})",
                 "'outlier_columns': 'a': got 3, wanted a list of columns, ascending from 0 on, each once"},
        BadField{"outlier_columns", R"({"a":[]})", "'a': got [], wanted a list of columns"},
        BadField{"outlier_columns", R"({"a":[-1]})", "'a': got [-1], wanted a list of columns"},
        BadField{"outlier_columns", R"({"a":[3,3]})", "'a': got [3,3], wanted a list of columns"},
        BadField{"outlier_columns", R"({"a":[4,3]})", "'a': got [4,3], wanted a list of columns"},
        BadField{"outlier_columns", R"({"a":[1.5]})", "'a': got [1.5], wanted a list of columns"},
        BadField{"calibrated_on", "[1]", "field 'calibrated_on': got [1], wanted an object with the texts"},
        BadField{"calibrated_on", R"({"weights":"0"})", "field 'calibrated_on': got {\"weights\":\"0\"}, wanted"},
        BadField{"calibrated_on", R"({"weights":"0","inputs":1})", "wanted an object with the texts 'weights' and"},
        BadField{"precision", "1", "field 'precision': got 1, wanted f32 or bf16, or a list of parts"},
        BadField{"precision", "[\"bf16\"]", "entry 0: got the string 'bf16', wanted an object"},
        BadField{"precision", R"([{"products":"bf16"}])", "entry 0: got no field 'labels'"},
        BadField{"precision", R"([{"labels":"a"}])", "entry 0: got 'labels' alone, wanted 'products'"},
        BadField{"precision", R"([{"labels":"","values":"bf16"}])", "field 'labels': got \"\""},
        BadField{"precision", R"([{"labels":1,"values":"bf16"}])", "field 'labels': got 1"},
        BadField{"precision", R"([{"labels":"a","values":"bf16"},{"labels":"b","product":"f32"}])",
                 "field 'precision': entry 1: unknown field 'product'"},
        BadField{"precision", R"([{"labels":"a","attention":"f16"}])",
                 "entry 0: field 'attention': got the string 'f16', wanted f32 or bf16"},
        BadField{"choices", "{\"p\": 3}", "choice 'p'"},
        BadField{"choices", "[1]", "field 'choices': got an array of 1, wanted an object"},
        BadField{"choices", "{\"p\": {\"kernel\": 3}}", "field 'kernel': got 3"},
        BadField{"choices", "{\"p\": {\"kernel\": \"k\", \"params\": {\"a\": 0.5}}}", "field 'params'"},
        BadField{"choices", "{\"p\": {\"kernel\": \"k\", \"parms\": {}}}", "choice 'p': unknown field 'parms'"}));

TEST(RecipeFile, ErrorsNameTheFile) {
  TemporaryDirectory directory;
  for (const char* text : {"", "{", "[]", R"({"version":1,"version":1})"}) {
    std::string path = directory.write("recipe.json", text);
    auto recipe = load_recipe(path);
    ASSERT_FALSE(recipe) << text;
    EXPECT_THAT(recipe.error().message, HasSubstr(path));
  }
  EXPECT_FALSE(load_recipe(directory / "none.json"));
}

}  // namespace
}  // namespace rung
