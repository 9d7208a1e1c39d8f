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
  EXPECT_DOUBLE_EQ(json["speedup"].get<double>(), 4.28);
  EXPECT_EQ(json["ops"][0]["category"], "GEMM");
  EXPECT_EQ(json["choices"][0]["candidates"][0]["params"]["mr"], 14);
}

// Reader and writer walk one list: what a name stands for is said here alone.
TEST(ReportJson, HoldsEveryFigureUnderItsName) {
  nlohmann::json json = to_json(testing::distinct_climb()), expected = nlohmann::json::parse(R"({
    "model": "distinct", "device": "cpu", "dtype": "bf16", "architecture": "bert", "shapes": "x=f32[1,8] mask=bool[7]",
    "threads": 3, "baseline_ms": 61.3, "final_ms": 17.9, "floor_ms": 11.2, "tuning_s": 23.4, "total_s": 58.6,
    "host_us": 47, "kernels_before": 78, "kernels_after": 29, "weights_mb": 88.3, "arena_mb": 5.2, "peak_rss_mb": 143,
    "verified": true, "rel_l2": 8.9e-7, "max_abs": 1.2e-6, "cosine": 0.99991234, "verify_reason": "2 inputs",
    "baseline": {"median_ms": 61.7, "min_ms": 58.1, "p90_ms": 64.3, "p99_ms": 83.9, "ci95": [60.9, 62.2], "runs": 131},
    "final_latency":
      {"median_ms": 18.1, "min_ms": 15.7, "p90_ms": 19.3, "p99_ms": 26.4, "ci95": [17.8, 18.6], "runs": 1547},
    "cold": {"median_ms": 21.3, "min_ms": 20.2, "p90_ms": 24.6, "p99_ms": 31.8, "ci95": [20.9, 22.7], "runs": 12},
    "stages": [{"name": "embeddings", "launches": 6, "us": 960, "floor_us": 710},
               {"name": "layers", "launches": 22, "us": 14100, "floor_us": 9300}],
    "baseline_categories_us":
      {"GEMM": 30100, "attention": 15200, "copy": 9100, "launch/host": 4200, "normalisation": 2600},
    "peaks": {"fma_f32_gflops": 411, "gemm_f32_gflops": 395, "gemm_bf16_gflops": 763, "read_gbps": 43.1,
              "handoff_us": 2.7, "barrier_us": 0.6},
    "against_baseline":
      {"before_ms": 61.3, "after_ms": 17.9, "ratio": 3.42, "ci95": [3.31, 3.53], "pairs": 17, "unraced": ""},
    "against_no_climb":
      {"before_ms": 19.2, "after_ms": 17.8, "ratio": 1.078, "ci95": [1.061, 1.094], "pairs": 23, "unraced": ""},
    "cheaper": {"dtype": "f8", "rel_l2": 3.4e-3, "max_abs": 5.1e-2, "cosine": 0.99973,
      "command": "rung climb distinct --dtype f8", "speedup":
      {"before_ms": 17.7, "after_ms": 9.4, "ratio": 1.883, "ci95": [1.85, 1.92], "pairs": 19, "unraced": ""}},
    "trials_s": 33.1, "untried": 5, "budget_note": "it is small",
    "disturbance": {"seconds": 91.3, "others": 0.013, "stolen": 0.004, "throttled": 0.006, "preemptions": 3.7,
                    "megahertz_before": 2901, "megahertz_after": 2903, "said": ""},
    "environment": {"processor": "Example 9000", "governor": "performance"}})");
  for (const auto& [name, value] : expected.items()) EXPECT_EQ(json[name], value) << name;
  EXPECT_DOUBLE_EQ(json["speedup"].get<double>(), 3.42);
}

TEST(ReportJson, HoldsEveryListedFigureUnderItsName) {
  nlohmann::json json = to_json(testing::distinct_climb());
  auto parsed = [](const char* text) { return nlohmann::json::parse(text); };
  EXPECT_EQ(json["rungs"][2], parsed(R"({"name": "tune", "accepted": false, "reason": "slower", "before_ms": 35.4,
    "ms": 36.9, "ratio": 0.962, "ci95": [0.941, 0.978], "pairs": 13, "kernels": 40, "rel_l2": 4.5e-7, "max_abs": 5.6e-6,
    "attempt": 1, "notes": ["tried 8", "kept 0"]})"));
  EXPECT_EQ(json["rungs"][3]["attempt"], 2);
  EXPECT_EQ(json["ablation"][1], parsed(R"({"name": "tune", "ratio": 1.004, "ci95": [0.981, 1.027]})"));
  EXPECT_EQ(json["ops"][1], parsed(R"({"label": "layer.0.dense", "op": "linear", "kernel": "linear_k",
    "problem": "linear 1", "category": "GEMM", "stage": "layers", "us": 5210, "floor_us": 3320, "flops": 2.1e9,
    "bytes": 47e6})"));
  EXPECT_EQ(json["choices"][0], parsed(R"({"problem": "norm 4", "count": 2, "chosen": "norm_lib",
    "reason": "nothing faster",
    "candidates": [{"kernel": "norm_slow", "params": {"rows": 8}, "us": 3000, "verdict": "3.66 x slower"},
                   {"kernel": "norm_lib", "params": {}, "us": 820, "verdict": "chosen: default"}]})"));
  EXPECT_EQ(json["loads"][0], parsed(R"({"rate_hz": 0,
    "latency": {"median_ms": 18.3, "min_ms": 15.1, "p90_ms": 19.9, "p99_ms": 27.2, "ci95": [17.1, 18.9], "runs": 138},
    "load": {"seconds": 2.5, "runs": 139, "samples": 40, "sm_mhz": 1965, "sm_mhz_least": 1740, "memory_mhz": 2619,
             "celsius": 63, "power_w": 352, "power_limit_w": 690, "energy_mj": 6330, "counted": true,
             "throttled": {"heat": 0.35}, "unknown": ""}})"));
}

TEST(ReportJson, HoldsWhatASearchOfPrecisionFound) {
  nlohmann::json json = to_json(testing::distinct_climb())["precision_search"];
  EXPECT_EQ(json["wholes"][1], nlohmann::json::parse(R"({"name": "", "recipe": "recipe_frontier_2.json",
    "predicted_us": 9120, "predicted_rel_l2": 0.0172, "rel_l2": 0.0183, "cosine": 0.99983, "kl": 0.0087, "speedup":
    {"before_ms": 18.4, "after_ms": 9.7, "ratio": 1.897, "ci95": [1.86, 1.93], "pairs": 37, "unraced": ""},
    "meets_goal": true, "best": true, "chosen": true})"));
  EXPECT_EQ(json["parts"][0], nlohmann::json::parse(R"({"name": "layers.*.up", "kind": "products",
    "chosen": "f8e4m3fn", "forms": [{"name": "f32", "us": 3100, "rel_l2": 0},
                                    {"name": "f8e4m3fn", "us": 810, "rel_l2": 0.0132}]})"));
  for (const char* part : {"parts", "wholes"}) json.erase(part);
  EXPECT_EQ(json, nlohmann::json::parse(R"({"limit_rel_l2": 0.021, "limit_cosine": 0.9991, "limit_kl": 0.031,
    "start_rel_l2": 2.2e-6, "start_us": 17100, "factor": 1.13, "watched": ["step.0.velocity"],
    "predicted": [{"us": 17050, "rel_l2": 3.3e-6}, {"us": 8890, "rel_l2": 0.0214}], "notes": ["i8: no kernel"]})"));
  EXPECT_FALSE(to_json(testing::minilm_climb()).contains("precision_search")) << "there was no search";
}

TEST(ReportJson, ReadsEveryFigureBack) {
  ClimbResult climbed = testing::distinct_climb();
  auto back = from_json(to_json(climbed));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->final_latency.p90_ms, 19.3);
  EXPECT_EQ(back->final_latency.p99_ms, 26.4);
  EXPECT_EQ(back->rungs[2].ci95.lo, 0.941);
  EXPECT_EQ(back->rungs[2].ci95.hi, 0.978);
  EXPECT_EQ(back->loads[0].load.throttled, climbed.loads[0].load.throttled);
  EXPECT_EQ(to_json(*back), to_json(climbed));
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

TEST(ReportJson, WritesNonFiniteNumbersAsNull) {
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

TEST(ReportJson, ClaimsOneWhereNothingWasShown) {
  ClimbResult result = testing::minilm_climb();
  result.against_baseline = {40.12, 9.38, 4.28, {0.9, 5}, 3, ""};
  EXPECT_EQ(to_json(result)["speedup"], 1);
  result.against_baseline = Speedup::same_plan(40.12);
  EXPECT_EQ(to_json(result)["speedup"], 1);
  result.against_baseline = Speedup::none(40.12, 9.38, kNoRace);
  EXPECT_TRUE(to_json(result)["speedup"].is_null());
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
  EXPECT_THAT(error_of(R"({"rungs": [], "choices": [{"candidates": [{"kernel": 3}]}]})"),
              HasSubstr("choices[0].candidates[0]: field 'kernel': got 3, wanted a kernel's name"));
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
