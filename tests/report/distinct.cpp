// The made-up climb of which no two figures are alike.
// SPDX-License-Identifier: Apache-2.0
#include "report/sample.hpp"

namespace rung::testing {
namespace {

std::vector<Receipt> distinct_rungs() {
  std::vector<Receipt> rungs(4);
  rungs[0] = {"baseline", true, "as written", 61.3, 61.3, 1, {1, 1}, 0, 77, 1.1e-7, 9.7e-7, 1, {}};
  rungs[1] = {"fusion", true, "1.74 x faster", 61.0,   35.2, 1.741,        {1.652, 1.814},
              14,       41,   2.3e-7,          3.4e-6, 1,    {"joined 12"}};
  rungs[2] = {
      "tune", false, "slower", 35.4, 36.9, 0.962, {0.941, 0.978}, 13, 40, 4.5e-7, 5.6e-6, 1, {"tried 8", "kept 0"}};
  rungs[3] = {"gemm", true, "1.99 x faster", 35.1, 17.6, 1.987, {1.931, 2.063}, 11, 28, 6.7e-7, 7.8e-6, 2, {}};
  return rungs;
}

// Two of them solve one problem with one kernel.
std::vector<OpTime> ops() {
  return {{"mask", "pointwise", "copy_k", "copy 3", "embeddings", Category::copy, 890, 640, 0, 27e6},
          {"layer.0.dense", "linear", "linear_k", "linear 1", "layers", Category::gemm, 5210, 3320, 2.1e9, 47e6},
          {"layer.0.core", "attention", "core_k", "core 2", "layers", Category::attention, 3170, 1870, 0.61e9, 9.1e6},
          {"layer.1.dense", "linear", "linear_k", "linear 1", "layers", Category::gemm, 5430, 3350, 2.2e9, 48e6},
          {"norm", "layer_norm", "norm_k", "norm 4", "layers", Category::normalisation, 433, 310, 0.02e9, 13e6}};
}

// The second takes less time a launch and more in all.
std::vector<Choice> distinct_choices() {
  return {{"norm 4",
           2,
           "norm_lib",
           "nothing faster",
           {{"norm_slow", {{"rows", 8}}, 3000, "3.66 x slower"}, {"norm_lib", {}, 820, "chosen: default"}}},
          {"linear 1",
           6,
           "linear_fast",
           "fastest",
           {{"linear_none", {}, 0, "not supported: k"},
            {"linear_lib", {}, 527, "default; 1.70 x slower"},
            {"linear_fast", {{"mr", 14}, {"nr", 32}}, 310, "chosen"}}}};
}

std::vector<LoadedRuns> loads() {
  DeviceLoad load{.seconds = 2.5, .runs = 139, .samples = 40};
  load.sm_mhz = 1965, load.sm_mhz_least = 1740, load.memory_mhz = 2619, load.celsius = 63;
  load.power_w = 352, load.power_limit_w = 690, load.energy_mj = 6330, load.counted = true;
  load.throttled = {{"heat", 0.35}};
  DeviceLoad calm{.seconds = 3.5, .runs = 71, .samples = 39};
  calm.unknown = "no library";
  return {{0, {18.3, 15.1, 19.9, 27.2, {17.1, 18.9}, 138}, load},
          {20, {22.4, 16.2, 25.3, 34.7, {21.6, 23.8}, 70}, calm}};
}

PrecisionReport search() {
  PrecisionReport r{.limit_rel_l2 = 0.021, .limit_cosine = 0.9991, .limit_kl = 0.031, .start_rel_l2 = 2.2e-6};
  r.start_us = 17100, r.factor = 1.13;
  r.parts = {{"layers.*.up", "products", "f8e4m3fn", {{"f32", 3100, 0}, {"f8e4m3fn", 810, 0.0132}}},
             {"*", "values", "bf16", {{"f32", 970, 0}, {"bf16", 940, 0.0041}}}};
  r.wholes = {{"all bf16, values in bf16",
               "recipe_frontier_1.json",
               0,
               0,
               {18.2, 12.3, 1.48, {1.46, 1.51}, 31, ""},
               0.0063,
               0.99997,
               0.0021,
               true,
               true,
               false},
              {"",
               "recipe_frontier_2.json",
               9120,
               0.0172,
               {18.4, 9.7, 1.897, {1.86, 1.93}, 37, ""},
               0.0183,
               0.99983,
               0.0087,
               true,
               true,
               true}};
  r.predicted = {{17050, 3.3e-6}, {8890, 0.0214}};
  r.watched = {"step.0.velocity"}, r.notes = {"i8: no kernel"};
  return r;
}

}  // namespace

ClimbResult distinct_climb() {
  ClimbResult r{.model = "distinct", .device = "cpu", .dtype = "bf16", .architecture = "bert"};
  r.shapes = "x=f32[1,8] mask=bool[7]";
  r.threads = 3;
  r.baseline_ms = 61.3, r.final_ms = 17.9, r.floor_ms = 11.2, r.tuning_s = 23.4, r.total_s = 58.6, r.host_us = 47;
  r.against_baseline = {61.3, 17.9, 3.42, {3.31, 3.53}, 17, ""};
  r.against_no_climb = {19.2, 17.8, 1.078, {1.061, 1.094}, 23, ""};
  r.cheaper = {"f8",    {17.7, 9.4, 1.883, {1.85, 1.92}, 19, ""}, 3.4e-3, 5.1e-2,
               0.99973, "rung climb distinct --dtype f8"};
  r.precision_search = search();
  r.trials_s = 33.1, r.untried = 5, r.budget_note = "it is small";
  r.kernels_before = 78, r.kernels_after = 29;
  r.baseline = {61.7, 58.1, 64.3, 83.9, {60.9, 62.2}, 131};
  r.final_latency = {18.1, 15.7, 19.3, 26.4, {17.8, 18.6}, 1547};
  r.cold = {21.3, 20.2, 24.6, 31.8, {20.9, 22.7}, 12};
  r.loads = loads();
  r.rungs = distinct_rungs();
  r.ablation = {{"fusion", 1.622, {1.571, 1.683}}, {"tune", 1.004, {0.981, 1.027}}, {"gemm", 1.914, {1.842, 1.975}}};
  r.ops = ops();
  r.stages = {{"embeddings", 6, 960, 710}, {"layers", 22, 14100, 9300}};
  r.baseline_categories_us = {
      {"GEMM", 30100}, {"attention", 15200}, {"copy", 9100}, {"launch/host", 4200}, {"normalisation", 2600}};
  r.choices = distinct_choices();
  r.peaks = {.fma_f32_gflops = 411, .gemm_f32_gflops = 395, .gemm_bf16_gflops = 763, .read_gbps = 43.1};
  r.peaks.handoff_us = 2.7, r.peaks.barrier_us = 0.6;
  r.weights_mb = 88.3, r.arena_mb = 5.2, r.peak_rss_mb = 143;
  r.disturbance = {91.3, 0.013, 0.004, 0.006, 3.7, 2901, 2903};
  r.environment = {{"processor", "Example 9000"}, {"governor", "performance"}};
  r.verified = true, r.rel_l2 = 8.9e-7, r.max_abs = 1.2e-6, r.cosine = 0.99991234, r.verify_reason = "2 inputs";
  return r;
}

}  // namespace rung::testing
