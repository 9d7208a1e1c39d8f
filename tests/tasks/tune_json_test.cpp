// What is told of tuned products: their names, intervals, and nothing of what there is not.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/tune_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rung::tasks {
namespace {

TEST(TunedProductsAsJson, LeaveOutWhatThereIsNot) {
  stacks::TunedProducts tuned;
  const stacks::GemmShape shape{.m = 4, .n = 64, .k = 32};
  tuned.products.push_back({.shape = shape, .choice = {.kernel = "linear_onednn", .params = {}}, .reason = ""});
  tuned.products.push_back({.shape = shape, .choice = {}, .reason = "not tuned: no time left"});
  const nlohmann::json json = to_json(tuned);
  EXPECT_EQ(json["products"][0]["product"], text_of(shape));
  EXPECT_EQ(json["products"][0]["ci95"].size(), 2u);
  EXPECT_EQ(json["products"][0]["chosen"]["kernel"], "linear_onednn");
  EXPECT_FALSE(json["products"][1].contains("chosen"));
  EXPECT_FALSE(json.contains("out"));
}

}  // namespace
}  // namespace rung::tasks
