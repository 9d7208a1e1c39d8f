// Options of models and plans: what fits together, and how what does not is named.
// SPDX-License-Identifier: Apache-2.0
#include "open/options.hpp"
#include "open/inputs.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"

#include <gmock/gmock.h>

#include "plan/file.hpp"
#include "support/bert_tiny.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

NamedTensors known_inputs() { return *read_npz(kBert + "/inputs.npz"); }

struct OptionMistake {
  const char* name;
  std::function<void(OpenOptions&)> make;
  ErrorKind kind;
  const char* message;      // where the options are values
  ErrorKind kind_of_flags;  // where they are flags of a command line
  const char* flags_message;
};
class OptionsThat : public ::testing::TestWithParam<OptionMistake> {};

TEST_P(OptionsThat, AreRefusedInTheCallersWords) {
  const OptionMistake& mistake = GetParam();
  for (bool flags : {false, true}) {
    OpenOptions options{.path = kBert, .command_line = flags};
    mistake.make(options);
    auto opened = open_model(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(name_of(opened.error().kind), name_of(flags ? mistake.kind_of_flags : mistake.kind));
    EXPECT_THAT(opened.error().message, HasSubstr(flags ? mistake.flags_message : mistake.message));
  }
}

const OptionMistake kMistakes[] = {
    {"ContradictAValue",
     [](OpenOptions& o) {
       o.inputs = given_arrays(known_inputs());
       o.shapes["input_ids"] = {1, 8};
     },
     ErrorKind::usage, "shape input_ids=1,8: inputs gives 'input_ids' the shape [1,9]", ErrorKind::usage,
     "--shape input_ids=1,8: --inputs gives 'input_ids' the shape [1,9]"},
    {"FreezeWhatHasNoValue", [](OpenOptions& o) { o.freeze = {"attention_mask"}; }, ErrorKind::usage,
     "freeze attention_mask: inputs gives it no value", ErrorKind::usage,
     "--freeze attention_mask: --inputs gives it no value"},
    {"ShapeNoInput",
     [](OpenOptions& o) {
       o.shapes["idz"] = {1, 8};
     },
     ErrorKind::mismatch, "a shape for input 'idz'", ErrorKind::usage, "a shape for input 'idz'"},
    {"GiveNoInput",
     [](OpenOptions& o) {
       o.inputs = given_arrays({{"idz", Tensor({DType::i64, {1, 9}})}});
     },
     ErrorKind::mismatch, "there is no input 'idz'; the inputs are: attention_mask, input_ids", ErrorKind::mismatch,
     "there is no input 'idz'"},
    {"GiveAnotherDtype",
     [](OpenOptions& o) {
       o.inputs = given_arrays({{"input_ids", Tensor({DType::f32, {1, 9}})}});
     },
     ErrorKind::mismatch, "input 'input_ids': got f32[1,9], wanted i64[1,9]", ErrorKind::mismatch,
     "input 'input_ids': got f32[1,9]"},
};
std::string name_of_option_mistake(const ::testing::TestParamInfo<OptionMistake>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Model, OptionsThat, ::testing::ValuesIn(kMistakes), name_of_option_mistake);

class OpenedModels : public ::testing::Test {
 protected:
  OpenOptions options{.path = kBert, .threads = 1, .inputs = given_arrays(known_inputs())};
  TemporaryDirectory folder;
};

TEST_F(OpenedModels, TakeTheirShapesAndValuesFromGivenInputs) {
  auto opened = open_model(options);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->subject->model.defaults.at("input_ids").type, (Type{DType::i64, {1, 9}}));
  EXPECT_EQ(opened->given.size(), known_inputs().size());
  EXPECT_EQ(verification_inputs(*opened).size(), 1u) << "nothing is left to make up";
  options.inputs = {};
  opened = open_model(options);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_GT(verification_inputs(*opened).size(), 1u);
}

TEST_F(OpenedModels, FreezeWhatTheyAreTold) {
  options.freeze = {"attention_mask"};
  auto opened = open_model(options);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_FALSE(opened->given.contains("attention_mask"));
  auto plan = plan_of(*opened, std::nullopt, options);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ((*plan)->frozen.size(), 1u);
  EXPECT_EQ((*plan)->frozen[0].name, "attention_mask");
}

TEST_F(OpenedModels, RefuseARecipeThatTheOptionsContradict) {
  auto opened = open_model(options);
  ASSERT_TRUE(opened) << opened.error().message;
  auto of = [&](const Recipe& recipe) { return recipe_of(*opened, recipe, options); };
  EXPECT_TRUE(of({.threads = 1}));
  auto refused = of({.threads = 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the recipe is for 2 threads, got threads 1");
  options.dtype = DType::bf16;
  refused = of({.threads = 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the recipe's precision is f32, got dtype bf16");
}

TEST_F(OpenedModels, HaveFixedShapesAndRecipesAsPlans) {
  auto opened = open_model(options);
  ASSERT_TRUE(opened) << opened.error().message;
  auto plan = plan_of(*opened, std::nullopt, options);
  ASSERT_TRUE(plan && save_plan(**plan, folder / "plan.rung"));
  OpenOptions of_plan{.path = folder / "plan.rung", .inputs = given_arrays(known_inputs())};
  auto again = open_model(of_plan);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->given.size(), known_inputs().size());
  auto recipe = plan_of(*again, Recipe{.threads = 1}, of_plan);
  ASSERT_FALSE(recipe);
  EXPECT_THAT(recipe.error().message, HasSubstr("is a plan, which has its own recipe"));
  of_plan.shapes["input_ids"] = {1, 9};
  EXPECT_TRUE(open_model(of_plan)) << "as it was built";
  of_plan.shapes["input_ids"] = {1, 8};
  again = open_model(of_plan);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("no plan is for input_ids=1,8; there is one for: "));
}

TEST(Recipes, AreText) {
  auto recipe = parse_recipe(recipe_text({.threads = 3}));
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->threads, 3);
  for (const char* text : {"", "{", "[]", R"({"version":1,"speed":9})"}) {
    auto refused = parse_recipe(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().kind, ErrorKind::usage) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("recipe"));
  }
}

TEST(Dtypes, AreWords) {
  EXPECT_EQ(*parse_dtype("model"), std::nullopt);
  EXPECT_EQ(*parse_dtype("f32"), DType::f32);
  EXPECT_EQ(*parse_dtype("bf16"), DType::bf16);
  for (const char* word : {"", "f8", "i64"}) {
    auto parsed = parse_dtype(word);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace rung
