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

std::string error_of(const Plan& plan, std::string_view text) {
  auto inputs = inputs_of_text(plan, text);
  return inputs ? "" : inputs.error().message;
}

Tensor i64(const std::vector<int64_t>& values) {
  return Tensor::of<int64_t>({1, static_cast<int64_t>(values.size())}, values);
}

TEST(TextInputs, AreTheTextsTokens) {
  Plan plan = plan_for_text();
  plan.inputs.push_back({.name = "attention_mask", .type = {DType::i64, {1, 8}}});
  auto inputs = inputs_of_text(plan, "a b");
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_THAT(inputs->at("input_ids").as<int64_t>(), testing::ElementsAre(2, 5, 6, 3, 0, 0, 0, 0));
  EXPECT_THAT(inputs->at("attention_mask").as<int64_t>(), testing::ElementsAre(1, 1, 1, 1, 0, 0, 0, 0));
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

TEST(TextInputs, AreRefusedWhereTheirMaskWasFrozenForAnotherText) {
  Plan plan = plan_for_text();
  plan.frozen.push_back({"attention_mask", i64({1, 1, 1, 1, 0, 0, 0, 0})});
  EXPECT_EQ(error_of(plan, "a b"), "");
  EXPECT_EQ(inputs_of_text(plan, "c c")->count("attention_mask"), 0u);
  EXPECT_THAT(error_of(plan, "a b c"), HasSubstr("input 'attention_mask' is frozen in this plan at another value"));
}

TEST(TextInputs, AreRefusedWhereTheirTokenTypesWereFrozenAtOthers) {
  Plan plan = plan_for_text();
  plan.frozen.push_back({"token_type_ids", i64({0, 0, 0, 0, 1, 1, 1, 1})});
  EXPECT_THAT(error_of(plan, "a b"), HasSubstr("input 'token_type_ids' is frozen"));
}

}  // namespace
}  // namespace rung
