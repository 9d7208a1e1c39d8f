// The JSON form: the promised fields, and the way back.
// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/sample.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

TEST(ReportJson, HasThePromisedFields) {
  nlohmann::json json = to_json(testing::minilm_climb());
  for (const char* name : {"model", "device", "dtype", "baseline_ms", "final_ms", "speedup", "floor_ms",
                           "kernels_before", "kernels_after", "rungs", "ablation", "tuning_s"})
    EXPECT_TRUE(json.contains(name)) << name;
  for (const char* name : {"name", "accepted", "reason", "ms", "ci95", "ratio", "kernels", "rel_l2", "max_abs"})
    EXPECT_TRUE(json["rungs"][3].contains(name)) << name;
  EXPECT_EQ(json["rungs"][3]["name"], "attention");
  EXPECT_EQ(json["rungs"][3]["ci95"].size(), 2u);
  EXPECT_EQ(json["ablation"][0]["name"], "gemm");
  EXPECT_DOUBLE_EQ(json["speedup"].get<double>(), 40.12 / 9.38);
  EXPECT_EQ(json["ops"][0]["category"], "GEMM");
  EXPECT_EQ(json["choices"][0]["candidates"][0]["params"]["mr"], 14);
}

TEST(ReportJson, RoundTripsToTheSameText) {
  std::string text = json_text(testing::minilm_climb());
  auto back = result_from_text(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(json_text(*back), text);
  EXPECT_EQ(back->rungs.size(), 10u);
  EXPECT_EQ(back->rungs[9].attempt, 2);
  EXPECT_EQ(back->ops[4].category, Category::attention);
  ASSERT_EQ(back->stages.size(), 3u);
  EXPECT_EQ(back->stages[1].name, "layers");
  EXPECT_DOUBLE_EQ(back->stages[1].floor_us, 7100);
}

TEST(ReportJson, WritesNumbersThatAreNotFiniteAsNullAndReadsThemAsNan) {
  ClimbResult result = testing::minilm_climb();
  result.cosine = std::numeric_limits<double>::quiet_NaN();
  result.rungs[1].ci95.hi = std::numeric_limits<double>::infinity();
  nlohmann::json json = to_json(result);
  EXPECT_TRUE(json["cosine"].is_null());
  EXPECT_TRUE(json["rungs"][1]["ci95"][1].is_null());
  auto back = from_json(json);
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::isnan(back->cosine));
  EXPECT_TRUE(std::isnan(back->rungs[1].ci95.hi));
}

TEST(ReportJson, SpeedupOfNothingMeasuredIsNull) { EXPECT_TRUE(to_json(ClimbResult{})["speedup"].is_null()); }

TEST(ReportJson, TextIsUtf8WhateverTheNamesHold) {
  std::string text = json_text(testing::hostile_climb());
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_TRUE(result_from_text(text));
}

std::string error_of(const char* text) {
  auto result = result_from_text(text);
  return result ? "no error" : result.error().message;
}

TEST(ReportJson, NamesTheFieldOfAnotherType) {
  EXPECT_THAT(error_of(R"({"rungs": [{}, {"ms": "fast"}]})"), HasSubstr("rungs[1].ms: got string, wanted a number"));
  EXPECT_THAT(error_of(R"({"rungs": [{"ci95": [1]}]})"), HasSubstr("rungs[0].ci95: got array, wanted [lo, hi]"));
  EXPECT_THAT(error_of(R"({"rungs": [], "ops": [{"category": "magic"}]})"), HasSubstr("ops[0].category"));
  EXPECT_THAT(error_of(R"({"rungs": [], "threads": 99999999999})"), HasSubstr("threads"));
  EXPECT_THAT(error_of(R"({"rungs": [], "threads": 1.5})"), HasSubstr("wanted an integer"));
  EXPECT_THAT(error_of(R"({"rungs": {}})"), HasSubstr("rungs: got object, wanted an array"));
}

TEST(ReportJson, RefusesWhatIsNotAReport) {
  EXPECT_THAT(error_of("{"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("[1, 2]"), HasSubstr("not a climb's report"));
  EXPECT_THAT(error_of("{}"), HasSubstr("'rungs'"));
}

TEST(ReportJson, IgnoresFieldsItDoesNotKnow) {
  auto result = result_from_text(R"({"rungs": [], "model": "m", "from_the_future": [1]})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->model, "m");
}

}  // namespace
}  // namespace rung
