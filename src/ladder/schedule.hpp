// How a climb spends its time: every share of the budget, cap and end of a measurement, and why it is so much.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>

namespace rung {

inline constexpr double kLeastSeconds = 0.1;  // of what must be measured with the time over, or nearly

// A share of the whole budget, but no more than `most_s` seconds.
struct Allowance {
  double share, most_s;
  double of(double budget_s) const { return std::min(share * budget_s, most_s); }
};

// Two sessions in alternation, until the interval of their ratio reaches no further than `half_width` from it
// (relative), or its answer is clear and `patience_s` seconds have passed, or the seconds are over.
struct RaceRule {
  double seconds, half_width, patience_s = 0;
  RaceRule within(double left_s) const { return {std::clamp(left_s, kLeastSeconds, seconds), half_width, patience_s}; }
};

// Shares are of the whole budget.
struct Schedule {
  // Floating-point operations that the scalar evaluator may compute per second of budget; beyond that the unfused f32
  // plan stands in for it. It reaches 2 to 4 GFLOP/s, so this is at most a quarter of the budget.
  double evaluator_flops_per_s = 0.5e9;

  // The machine's peaks. In two seconds they are quiet; the four that are no products take 0.15 of them each, and the
  // products, of which there are several for each dtype, 0.2.
  Allowance peaks{0.08, 2};
  double peak_share = 0.15, product_share = 0.2, product_s = 0.02;  // product_s: of one row

  Allowance baseline{0.03, 0.5};  // for each of the baseline's latency and profile

  // All kernel tuning together; and of what is left, because what was tuned must be timed, too.
  double tuning_share = 0.35, tuning_share_of_rest = 0.5;

  // One rung's comparison. Where the model is slow it may take longer, so that `race_pairs` fit, but no more than
  // `race_most_share`: fewer pairs give an interval no chance.
  Allowance race{0.025, 2};
  double race_least_s = 0.3, race_most_share = 0.08, race_pairs = 8, race_half_width = 0.004;
  int race_least_pairs = 6;  // five signed ranks give no interval of 95 %
  // A clear answer ends a race after that long: until then the interval narrows, for little.
  Allowance race_patience{0.005, 0.3};
  // The least standard deviation of the log ratio of one pair: a descheduled thread, a clock that drops. The spread of
  // the baseline's runs raises it. A factor of 11 is then clear after one pair, one of 3.4 after three.
  double race_noise = 0.5;

  // Canonical forms are measured apart where a climb has time for that many trials of other things.
  double canonical_trials = 6;

  double together_share = 0.25;  // kept for trying rungs together that were rejected, or not tried, alone

  // A rung that lost, taken apart: all races of its parts, and one of them.
  double parts_share = 0.1;
  RaceRule parts{0.6, 0.004};

  // The rung "tune": all its trials on the whole model, and one of them. A single choice gains little, so its interval
  // must be narrow; no race shows what a problem gains that takes less than `visible` of a run.
  double choices_share = 0.2;
  RaceRule choice{0.6, 0.002};
  double visible = 2 * choice.half_width;

  double ablation_share = 0.02, ablation_least_s = 0.2, ablation_half_width = 0.01;  // one rung left out

  Allowance final_plan{0.15, 5};  // kept for what follows
  // First plan against last one. It wants time to build the first again: `headline_slack` as long as that took before.
  RaceRule headline{1, 0.005, 1};
  double headline_share_of_rest = 0.3;
  RaceRule cheaper{0.5, 0.01, 0.1};  // the final plan against one in a cheaper precision
  double headline_slack = 1.5;
  double guard_pairs = 6;            // of the final plan against the default one
  double gpu_profile_s = 1;          // a profile of a GPU takes that long at least
  double start_profile_share = 0.1;  // and that much of the budget it may take, to say where to look first
  double roomy = 1.5;                // a budget that would do is that much larger than what its changes take: some tune
  // A change is tried while that many runs fit, beside building it: both sides of a pair, each with its warm-up.
  double pair_runs = 4;
  // Runs that the final measurements cannot do without: latency, launches one by one, cold.
  double final_runs = 8;
  // The share of the excess over its floors that leaving a rung out may bring: rarely any.
  double without_reach = 0.05;
  double latency_share_of_rest = 0.3, latency_most_s = 1;  // of one cadence
  double robot_hz = 20;                                    // the steady rate that reports give beside back to back
  double sensors_s = 1;    // of runs, for a GPU's sensors of clocks and power to see them
  double profile_s = 3.3;  // enough for quiet medians; a climb with less time left gives less
  // Its parts on a processor, of its seconds: launches one by one, warm runs, cold runs. On a GPU events time launches.
  double steps_share = 0.45, warm_share = 0.1, cold_share = 0.45;
  double gpu_runs_s = 0.3;  // warm runs, and as long for cold ones
  // At most. Slow models stop earlier: a measurement ends with the run in which its seconds are spent.
  size_t profile_rounds = 21, cold_runs = 12, timed_runs = 100'000;
};
inline constexpr Schedule kSchedule;

// For writing a plan of `bytes`, and the reports: measured 0.15 s for 90 MB, 6 s for 6.5 GB.
inline double writing_seconds(double bytes) { return 0.05 + bytes * 1e-9; }

}  // namespace rung
