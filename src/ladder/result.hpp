// The result of a climb: receipts, ablation, times, which kernel won where, on which machine. Plain data; report/ turns
// it into JSON, HTML, Markdown and a trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/category.hpp"
#include "ladder/precision/report.hpp"
#include "ladder/speedup.hpp"
#include "measure/device_load.hpp"
#include "measure/disturbance.hpp"
#include "measure/interval.hpp"
#include "tune/candidate_result.hpp"

namespace rung {

// The record of one rung. `ratio` is time before / time after from interleaved runs, above 1 when the rung is faster;
// `ci95` is its 95 % confidence interval. The times of all receipts are on one scale: the baseline's over the ratios of
// the rungs that were kept. Times as measured would each be of their own moment, and rise and fall with the machine's
// load.
struct Receipt {
  std::string name;
  bool accepted = false;
  std::string reason;  // one line: why it was kept or not
  double before_ms = 0, ms = 0, ratio = 1;
  Interval ci95{1, 1};
  int pairs = 0;                   // pairs of the race; 0: no race
  int kernels = 0;                 // launches in the plan with this rung on
  double rel_l2 = 0, max_abs = 0;  // against the f32/f64 reference
  int attempt = 1;                 // 2: tried again at the end
  std::vector<std::string> notes;  // its passes' changes, or why there were none: "reduce: dropped 3 masked rows ..."
};

// The receipt of the plan that opening the model gives.
inline constexpr std::string_view kDefaultPlan = "default plan";

// The reasons for which a change was not tried.
inline constexpr std::string_view kNoTime = "the budget was spent before this rung",
                                  kNoTimeAlone = "the budget leaves no time to try it alone";
inline bool was_tried(const Receipt& receipt) { return receipt.reason != kNoTime && receipt.reason != kNoTimeAlone; }

// The result of leaving one rung out of the final plan: time without the rung / time with it.
struct AblationRow {
  std::string name;
  double ratio = 1;
  Interval ci95{1, 1};
};

// A launch of the final plan, timed alone with cold weights.
struct OpTime {
  std::string label, op, kernel, problem, stage;
  Category category = Category::other;
  double us = 0, floor_us = 0;
  double flops = 0, bytes = 0;  // least work that the op needs; bytes include weights, inputs and the output once
};

// A part of the model. On a GPU its launches are replayed together, in order; else `us` is the sum of their times.
struct StageTime {
  std::string name;
  int launches = 0;
  double us = 0, floor_us = 0;
};

// The candidates tried for a problem.
struct Choice {
  std::string problem;  // "linear m=128 n=1536 k=384 f32 bias gelu"
  int count = 1;        // launches that share it
  std::string chosen, reason;
  std::vector<Candidate> candidates;
};

// A latency measurement.
struct Latency {
  double median_ms = 0, min_ms = 0, p90_ms = 0, p99_ms = 0;
  Interval ci95;  // of the median, ms
  int runs = 0;
};

// Runs one after another, or each at its turn, and the device's load meanwhile.
struct LoadedRuns {
  double rate_hz = 0;  // 0: back to back
  Latency latency;
  DeviceLoad load;
};

struct Peaks {
  double fma_f32_gflops = 0;  // multiply-adds on registers alone, all threads
  double gemm_f32_gflops = 0,
         gemm_bf16_gflops = 0;  // sets floors: the better of that and the best GEMM seen
  double read_gbps = 0;         // streaming read from memory
  double handoff_us = 0;        // wake the team, run nothing, come back (spinning)
  double barrier_us = 0;
};

// A plan in a cheaper precision, raced against the final plan; the climb did not take it.
struct CheaperPrecision {
  std::string dtype;  // empty: this machine has no cheaper one, or the plan computes in it
  Speedup speedup;
  double rel_l2 = 0, max_abs = 0, cosine = 1;  // against the f32/f64 reference
  std::string command;                         // climbs in that precision; empty: not known here
};

struct ClimbResult {
  std::string model, device, dtype, architecture;
  std::string shapes;            // "input_ids=i64[1,128] ..."
  int64_t text_before = 0;       // tokens of a decoder's text before every run that was timed
  bool takes_text = false;       // the model has a tokenizer
  std::string precision{"f32"};  // of the recipe: "bf16" where that was opted in
  int threads = 1;
  double baseline_ms = 0, final_ms = 0, floor_ms = 0, tuning_s = 0;
  Speedup against_baseline;  // of the final plan, over the model as its author wrote it
  Speedup against_no_climb;  // over the default plan, which opening the model gives
  CheaperPrecision cheaper;
  PrecisionReport precision_search;  // with a stated error
  double total_s = 0, budget_s = 0;
  double trials_s = 0;      // part of total_s that a smaller budget would not have spent
  int untried = 0;          // changes for which there was no time
  std::string budget_note;  // shortcomings of the budget, known once the first plans were timed; empty: none
  int kernels_before = 0, kernels_after = 0;
  Latency baseline, final_latency, cold;  // cold: caches flushed before each run
  std::vector<LoadedRuns> loads;          // of the final plan on a GPU: back to back, and at a steady rate
  std::vector<Receipt> rungs;
  std::vector<AblationRow> ablation;
  std::vector<OpTime> ops;
  std::vector<StageTime> stages;
  std::map<std::string, double> baseline_categories_us;  // by category name
  std::vector<Choice> choices;
  Peaks peaks;
  double weights_mb = 0, arena_mb = 0, peak_rss_mb = 0;
  double host_us = 0;                              // time per replay outside kernels
  Disturbance disturbance;                         // of the whole climb
  std::map<std::string, std::string> environment;  // processor, isa, kernel, compiler, library versions, governor, ...
  bool verified = false;
  double rel_l2 = 0, max_abs = 0, cosine = 0;
  bool piecewise = false;  // judged from rounding to rounding (follower.hpp), as verify_reason tells
  std::string verify_reason;
};

}  // namespace rung
