// Made-up climbs for the report's tests.
// SPDX-License-Identifier: Apache-2.0
#include "report/sample.hpp"

#include <fmt/format.h>

#include <limits>

namespace rung::testing {
namespace {

Receipt receipt(std::string name, double before, double after, int kernels, std::string reason) {
  Receipt r{.name = std::move(name), .reason = std::move(reason), .before_ms = before, .ms = after};
  r.ratio = before / after;
  r.ci95 = {r.ratio * 0.985, r.ratio * 1.016};
  r.accepted = r.ci95.lo > 1;
  r.kernels = kernels;
  r.rel_l2 = 2.9e-7;
  r.max_abs = 1.4e-6;
  return r;
}

std::vector<Receipt> ladder() {
  std::vector<Receipt> rungs{
      receipt("baseline", 40.12, 40.12, 231, "one kernel per op, as the model's author wrote it"),
      receipt("reduce", 40.12, 37.85, 208, "faster: the interval is clear of 1"),
      receipt("capture", 37.85, 36.41, 208, "faster: the interval is clear of 1"),
      receipt("attention", 36.41, 27.33, 142, "faster: the interval is clear of 1"),
      receipt("gemm", 27.33, 13.92, 142, "faster: the interval is clear of 1"),
      receipt("projection", 13.92, 13.88, 130, "a tie: the interval holds 1, so the simpler plan stays"),
      receipt("fusion", 13.92, 10.21, 58, "faster: the interval is clear of 1"),
      receipt("tune", 10.21, 9.71, 58, "faster: the interval is clear of 1"),
      receipt("precision", 9.71, 5.92, 58, "faster, but not right: rel. L2 error 3.1e-3 exceeds 1e-5"),
      receipt("projection", 9.71, 9.38, 46, "faster on top of all that was kept"),
  };
  rungs[0].accepted = true;
  rungs[0].ci95 = {1, 1};
  rungs[1].notes = {"folded 14 constants", "hoisted nothing: the graph has no loop", "dropped 9 dead values"};
  rungs[3].notes = {"6 x softmax(q k') v became attention", "12 transposes dropped: the kernel reads [B,S,H,D]"};
  rungs[6].notes = {"bias and gelu into 6 linears", "residual into 12 layer_norms",
                    "l2_normalize kept apart: no kernel row"};
  rungs[8].accepted = false;
  rungs[8].rel_l2 = 3.1e-3;
  rungs[9].attempt = 2;
  return rungs;
}

struct LinearShape {
  const char* name;
  double m, n, k;
  double efficiency;
};

OpTime linear(const std::string& label, const LinearShape& s) {
  OpTime op{.label = label, .op = "linear", .kernel = "linear_packed_avx512"};
  op.problem = fmt::format("linear m={} n={} k={} f32 {}", s.m, s.n, s.k, s.name);
  op.category = Category::gemm;
  op.flops = 2 * s.m * s.n * s.k;
  op.bytes = 4 * (s.m * s.k + s.n * s.k + s.m * s.n);
  op.floor_us = std::max(op.flops / 380e3, op.bytes / 42e3);
  op.us = op.floor_us / s.efficiency;
  return op;
}

OpTime light(std::string label, std::string word, Category category, double us) {
  OpTime op{.label = std::move(label), .op = word, .kernel = word + "_avx512", .problem = word + " 128x384 f32"};
  op.category = category;
  op.us = us;
  op.flops = category == Category::copy ? 0 : 128 * 384 * 8.0;
  op.bytes = 128 * 384 * 4 * 2.0;
  op.floor_us = op.bytes / 42e3;
  return op;
}

std::vector<OpTime> encoder_layer(int layer) {
  std::string p = fmt::format("encoder.layer.{}.", layer);
  std::vector<OpTime> ops{linear(p + "attention.self.qkv", {"bias", 128, 1152, 384, 0.79}),
                          linear(p + "attention.output.dense", {"bias", 128, 384, 384, 0.71}),
                          linear(p + "intermediate.dense", {"bias gelu", 128, 1536, 384, 0.82}),
                          linear(p + "output.dense", {"bias", 128, 384, 1536, 0.77})};
  OpTime attention{.label = p + "attention", .op = "attention", .kernel = "attention_avx512"};
  attention.problem = "attention b=1 h=12 q=128 k=128 d=32 f32";
  attention.category = Category::attention;
  attention.flops = 25.2e6, attention.bytes = 0.79e6, attention.floor_us = 66, attention.us = 171;
  ops.push_back(attention);
  ops.push_back(light(p + "attention.output.LayerNorm", "layer_norm", Category::normalisation, 19.4));
  ops.push_back(light(p + "output.LayerNorm", "layer_norm", Category::normalisation, 20.1));
  return ops;
}

Choice choice_for(const OpTime& op, int count) {
  Choice c{.problem = op.problem, .count = count, .chosen = op.kernel, .reason = "fastest of those that ran, by 8 %"};
  c.candidates.push_back({op.kernel, {{"mr", 14}, {"nr", 32}, {"kc", 384}}, op.us, "chosen"});
  c.candidates.push_back({op.kernel, {{"mr", 8}, {"nr", 48}, {"kc", 384}}, op.us * 1.08, "1.08 x slower"});
  c.candidates.push_back({"linear_onednn", {}, op.us * 1.31, "default; 1.31 x slower"});
  c.candidates.push_back({"linear_openblas", {}, op.us * 1.62, "1.62 x slower"});
  c.candidates.push_back({"linear_amx_bf16", {}, 0, "not supported: the processor has no AMX"});
  c.candidates.push_back({"linear_fallback", {}, op.us * 96, "96 x slower"});
  return c;
}

std::vector<Choice> choices() {
  std::vector<Choice> list;
  for (const OpTime& op : encoder_layer(0)) list.push_back(choice_for(op, 6));
  for (int n : {32, 64, 96, 128, 160}) list.push_back(choice_for(linear("head", {"bias", 1, double(n), 384, 0.5}), 1));
  return list;
}

std::map<std::string, std::string> environment() {
  return {{"processor", "Example 9000 (2 cores)"},
          {"isa", "avx2 avx512 avx512_bf16"},
          {"kernel", "6.1.0"},
          {"compiler", "g++ 12.2.0"},
          {"openblas", "0.3.21"},
          {"onednn", "2.6"},
          {"governor", "performance"},
          {"throttled", "no"},
          {"rung", "0.1.0"}};
}

}  // namespace

ClimbResult minilm_climb() {
  ClimbResult r{.model = "all-MiniLM-L6-v2", .device = "cpu", .dtype = "f32", .architecture = "bert"};
  r.shapes = "input_ids=i64[1,128] attention_mask=i64[1,128] token_type_ids=i64[1,128]";
  r.threads = 2;
  r.baseline_ms = 40.12, r.final_ms = 9.38, r.floor_ms = 7.61, r.tuning_s = 31.4, r.total_s = 52.7;
  r.against_baseline = {40.12, 9.38, 4.28, {4.21, 4.35}, 31, ""};
  r.kernels_before = 231, r.kernels_after = 46;
  r.baseline = {40.12, 39.41, 41.2, 43.8, {40.01, 40.24}, 200};
  r.final_latency = {9.38, 9.21, 9.61, 10.12, {9.35, 9.41}, 500};
  r.cold = {11.04, 10.72, 11.6, 12.9, {10.98, 11.11}, 100};
  r.rungs = ladder();
  r.ablation = {{"gemm", 1.93, {1.90, 1.96}},    {"attention", 1.41, {1.39, 1.43}}, {"fusion", 1.34, {1.32, 1.36}},
                {"tune", 1.05, {1.03, 1.07}},    {"capture", 1.04, {1.02, 1.06}},   {"projection", 1.03, {1.01, 1.05}},
                {"reduce", 1.00, {0.985, 1.015}}};
  for (int layer = 0; layer < 3; ++layer)
    for (OpTime& op : encoder_layer(layer)) r.ops.push_back(std::move(op));
  r.ops.push_back(light("embeddings", "gather", Category::copy, 24.0));
  r.ops.push_back(light("embeddings.LayerNorm", "layer_norm", Category::normalisation, 21.7));
  r.ops.push_back(light("mask", "pointwise", Category::elementwise, 4.2));
  r.ops.push_back(light("pooling", "masked_mean", Category::other, 11.3));
  r.stages = {{"embeddings", 2, 45.7, 18.8}, {"layers", 21, 8600, 7100}, {"rest", 2, 15.5, 9.4}};
  r.baseline_categories_us = {{"GEMM", 21100},        {"attention", 0}, {"normalisation", 3900},
                              {"element-wise", 8200}, {"copy", 5400},   {"launch/host", 1100}};
  r.choices = choices();
  r.peaks = {.fma_f32_gflops = 402, .gemm_f32_gflops = 381, .gemm_bf16_gflops = 742, .read_gbps = 41.8};
  r.peaks.handoff_us = 1.9, r.peaks.barrier_us = 0.4;
  r.weights_mb = 90.9, r.arena_mb = 3.4, r.peak_rss_mb = 171, r.host_us = 38;
  r.environment = environment();
  r.verified = true, r.rel_l2 = 3.1e-7, r.max_abs = 1.2e-6, r.cosine = 0.99999999;
  return r;
}

ClimbResult empty_climb() {
  ClimbResult r{.model = "m", .device = "cpu", .dtype = "f32"};
  r.rungs = {Receipt{.name = "baseline", .accepted = true}};
  r.verify_reason = "no output was compared";
  return r;
}

ClimbResult huge_climb(int ops) {
  ClimbResult r = minilm_climb();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  r.model =
      "a/model/whose-name-is-so-long-that-no-line-of-any-page-on-any-screen-could-hope-to-hold-it-without-a-break";
  r.baseline_ms = 4.2e6, r.final_ms = 0.00031, r.floor_ms = 1e-6;
  r.rungs[2].ms = kInfinity, r.rungs[2].ratio = -kInfinity,
  r.rungs[3].rel_l2 = std::numeric_limits<double>::quiet_NaN();
  r.rungs[4].ms = 3.1e6, r.rungs[5].ms = 4e-5;
  r.rungs[6].notes.assign(500, "a note that is repeated for every one of many launches");
  r.ops.clear();
  for (int i = 0; i < ops; ++i) {
    OpTime op = encoder_layer(i)[static_cast<size_t>(i) % 7];
    op.problem += fmt::format(" variant {}", i % 400);
    op.us *= 1 + i % 97;
    r.ops.push_back(op);
  }
  for (int i = 0; i < 300; ++i) r.choices.push_back(choice_for(r.ops[static_cast<size_t>(i) % r.ops.size()], i));
  for (int i = 0; i < 200; ++i) r.choices.back().candidates.push_back(r.choices[0].candidates[1]);
  r.ops[0].us = kInfinity, r.ops[1].us = 0, r.ops[2].flops = 1e18;
  return r;
}

ClimbResult hostile_climb() {
  const std::string bad = "<script>alert('x')</script>\"&\x1b[31m|\xff\n</style>";
  ClimbResult r = minilm_climb();
  for (std::string* text : {&r.model, &r.device, &r.dtype, &r.architecture, &r.shapes, &r.verify_reason}) *text = bad;
  for (Receipt& x : r.rungs) x.name = x.reason = bad, x.notes.push_back(bad);
  for (AblationRow& x : r.ablation) x.name = bad;
  for (StageTime& x : r.stages) x.name = bad;
  for (OpTime& x : r.ops) x.label = x.op = x.kernel = x.problem = bad;
  for (Choice& x : r.choices) x.problem = x.chosen = x.reason = bad, x.candidates.push_back({bad, {{bad, 1}}, 1, bad});
  r.environment = {{bad, bad}};
  r.baseline_categories_us = {{bad, 1}};
  return r;
}

}  // namespace rung::testing
