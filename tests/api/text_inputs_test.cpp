// A text for a plan that wants its tokens in another shape, or was frozen for another text.
// SPDX-License-Identifier: Apache-2.0
#include "api/text_inputs.hpp"

#include <gmock/gmock.h>

namespace rung {
namespace {

using testing::HasSubstr;

// Of eight tokens, with the letters a to c as words.
Plan plan_for_text() {
  Plan plan;
  plan.attachments = {{"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n"}};
  plan.inputs.push_back({.name = "input_ids", .type = {DType::i64, {1, 8}}});
  return plan;
}

Result<TextInputs> inputs_of(const Plan& plan, std::string_view text, bool may_cut = true) {
  return TextEncoder(PlanSet(std::make_shared<const Plan>(plan))).inputs_of({.text = text, .may_cut = may_cut});
}

std::string error_of(const Plan& plan, std::string_view text) {
  auto inputs = inputs_of(plan, text);
  return inputs ? "" : inputs.error().message;
}

// Plans of one model for as many tokens.
PlanSet plans_of_lengths(const std::vector<int64_t>& lengths) {
  std::vector<Plan> plans;
  for (const int64_t length : lengths) {
    plans.push_back(plan_for_text());
    plans.back().inputs[0].type.shape = {1, length};
  }
  auto set = PlanSet::make(std::move(plans));
  EXPECT_TRUE(set) << set.error().message;
  return *set;
}

TEST(TextInputs, AreForTheShortestPlanThatHasRoom) {
  const TextEncoder encoder{plans_of_lengths({8, 4, 16, 6})};
  const std::vector<std::pair<std::string, int64_t>> lengths{{"a", 4},
                                                             {"a b", 4},
                                                             {"a b c", 6},
                                                             {"a b c a b", 8},
                                                             {"a b c a b c", 8},
                                                             {"a b c a b c a", 16},
                                                             {"a b c a b c a b c a b c a b c a", 16}};
  for (const auto& [text, length] : lengths) {
    const auto inputs = encoder.inputs_of({.text = text});
    ASSERT_TRUE(inputs) << inputs.error().message;
    EXPECT_EQ(inputs->inputs.at("input_ids").type().shape, (Shape{1, length})) << text;
    EXPECT_EQ(inputs->truncated(), text.size() > 29) << text;
  }
}

Tensor i64(const std::vector<int64_t>& values) {
  return Tensor::of<int64_t>({1, static_cast<int64_t>(values.size())}, values);
}

TEST(TextInputs, AreTheTextsTokens) {
  Plan plan = plan_for_text();
  plan.inputs.push_back({.name = "attention_mask", .type = {DType::i64, {1, 8}}});
  auto inputs = inputs_of(plan, "a b");
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_THAT(inputs->inputs.at("input_ids").as<int64_t>(), testing::ElementsAre(2, 5, 6, 3, 0, 0, 0, 0));
  EXPECT_THAT(inputs->inputs.at("attention_mask").as<int64_t>(), testing::ElementsAre(1, 1, 1, 1, 0, 0, 0, 0));
}

TEST(TextInputs, SayHowMuchOfATextTheyHold) {
  auto inputs = inputs_of(plan_for_text(), "a b c a b c");
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_FALSE(inputs->truncated()) << "it fills the plan";
  inputs = inputs_of(plan_for_text(), "a b c a b c a");
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_TRUE(inputs->truncated());
  EXPECT_EQ(inputs->tokens, 9);
  EXPECT_EQ(inputs->kept, 8);
  auto refused = inputs_of(plan_for_text(), "a b c a b c a", false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::mismatch);
  EXPECT_THAT(refused.error().message, HasSubstr("has 9 tokens, and the plan reads 8 of them"));
  EXPECT_TRUE(inputs_of(plan_for_text(), "a b c a b c", false));
}

TEST(TextInputs, HoldTheWholeTextEvenBehindANul) {
  auto inputs = inputs_of(plan_for_text(), std::string_view("a\0 b", 4));
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_THAT(inputs->inputs.at("input_ids").as<int64_t>(), testing::ElementsAre(2, 5, 6, 3, 0, 0, 0, 0));
}

TEST(TextInputs, HoldTwoTextsThatTheModelReadsTogether) {
  Plan plan = plan_for_text();
  plan.inputs.push_back({.name = "token_type_ids", .type = {DType::i64, {1, 8}}});
  const TextEncoder encoder{PlanSet(std::make_shared<const Plan>(plan))};
  const auto inputs = encoder.inputs_of({.text = "a", .second = "b c"});
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_THAT(inputs->inputs.at("input_ids").as<int64_t>(), testing::ElementsAre(2, 5, 3, 6, 7, 3, 0, 0));
  EXPECT_THAT(inputs->inputs.at("token_type_ids").as<int64_t>(), testing::ElementsAre(0, 0, 0, 1, 1, 1, 0, 0));
}

// Reading takes tens of milliseconds, encoding microseconds.
TEST(TextInputs, AreMadeByATokenizerReadOnlyOnce) {
  auto plan = std::make_shared<Plan>(plan_for_text());
  const TextEncoder encoder{PlanSet(plan)};
  ASSERT_TRUE(encoder.inputs_of({.text = "a"}));
  plan->attachments["vocab.txt"] = "damaged";
  EXPECT_TRUE(encoder.inputs_of({.text = "a"}));
  EXPECT_FALSE(TextEncoder(PlanSet(plan)).inputs_of({.text = "a"}));
}

TEST(TextInputs, DoNotFillABatch) {
  Plan plan = plan_for_text();
  plan.inputs[0].type.shape = {2, 8};
  EXPECT_THAT(error_of(plan, "a b"), HasSubstr("input 'input_ids': the plan wants i64[2,8], and a text of 8 tokens"));
}

TEST(TextInputs, AreOfThePlansTypeOrRefused) {
  for (const char* name : {"attention_mask", "token_type_ids"})
    for (const Type& type : {Type{DType::i64, {1, 4}}, Type{DType::f32, {1, 8}}, Type{DType::i64, {8}}}) {
      Plan plan = plan_for_text();
      plan.inputs.push_back({.name = name, .type = type});
      EXPECT_THAT(error_of(plan, "a b c a b c"), HasSubstr(std::string("input '") + name + "': the plan wants"));
    }
  Plan plan = plan_for_text();
  plan.inputs[0].type.dtype = DType::i32;
  EXPECT_THAT(error_of(plan, "a"), HasSubstr("wants i32[1,8]"));
  plan.inputs[0].type = {DType::i64, {}};
  EXPECT_NE(error_of(plan, "a"), "");
}

TEST(TextInputs, AreRefusedWhereTheirMaskWasFrozenDifferently) {
  Plan plan = plan_for_text();
  plan.frozen.push_back({"attention_mask", i64({1, 1, 1, 1, 0, 0, 0, 0})});
  EXPECT_EQ(error_of(plan, "a b"), "");
  EXPECT_EQ(inputs_of(plan, "c c")->inputs.count("attention_mask"), 0u);
  EXPECT_THAT(error_of(plan, "a b c"), HasSubstr("input 'attention_mask' is frozen in this plan at another value"));
}

TEST(TextInputs, AreRefusedWhereTokenTypesWereFrozenDifferently) {
  Plan plan = plan_for_text();
  plan.frozen.push_back({"token_type_ids", i64({0, 0, 0, 0, 1, 1, 1, 1})});
  EXPECT_THAT(error_of(plan, "a b"), HasSubstr("input 'token_type_ids' is frozen"));
}

}  // namespace
}  // namespace rung
