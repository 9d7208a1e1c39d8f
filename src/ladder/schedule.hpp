// The schedule of a climb's time: every share of the budget, cap and end of a measurement, and the reason for its size.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>

namespace rung {

inline constexpr double kLeastSeconds = 0.1;  // of measurements that must be made even if the time is over, or nearly

// A share of the whole budget, but no more than `most_s` seconds.
struct Allowance {
  double share, most_s;
  double of(double budget_s) const { return std::min(share * budget_s, most_s); }
};

// A race alternates two sessions until the interval of their ratio reaches no further than `half_width` from it
// (relative), or its answer is clear and `patience_s` seconds have passed, or the seconds are over and `least_pairs`
// ran.
struct RaceRule {
  double seconds, half_width, patience_s = 0;
  int least_pairs = 1;
  RaceRule within(double left_s) const {
    return {std::clamp(left_s, kLeastSeconds, seconds), half_width, patience_s, least_pairs};
  }
};

// The shares are of the whole budget.
struct Schedule {
  // Floating-point operations that the scalar evaluator may compute per second of budget; beyond that the unfused f32
  // plan stands in for it. It reaches 2 to 4 GFLOP/s, so this is at most a quarter of the budget.
  double evaluator_flops_per_s = 0.5e9;

  // The machine's peaks. They are steady after two seconds; the four that are no products take 0.15 of that each, and
  // the products, of which there are several for each dtype, 0.2.
  Allowance peaks{0.08, 2};
  double peak_share = 0.15, product_share = 0.2, product_s = 0.02;  // product_s: of one row

  Allowance baseline{0.03, 0.5};  // for each of the baseline's latency and profile

  // All kernel tuning takes at most these shares, of the budget and of its rest: tuned plans must be timed, too.
  double tuning_share = 0.35, tuning_share_of_rest = 0.5;

  // One rung's comparison. For a slow model it may take longer, so that `race_pairs` fit, but no more than
  // `race_most_share`: fewer pairs give an interval no chance. The same holds for every other race that decides.
  Allowance race{0.025, 2};
  double race_least_s = 0.3, race_most_share = 0.08, race_pairs = 8, race_half_width = 0.004;
  int race_least_pairs = 6;  // five signed ranks give no interval of 95 %
  // A GPU that has waited for the processor runs below its clocks at first.
  double settle_s = 0.1;
  // A clear answer ends a race after that long: until then, the interval narrows at little cost.
  Allowance race_patience{0.005, 0.3};
  // The least standard deviation of the log ratio of one pair: a descheduled thread, a clock that drops. The spread of
  // the baseline's runs raises it. A factor of 11 is then clear after one pair, one of 3.4 after three.
  double race_noise = 0.5;

  // Canonical forms are measured separately if a climb has time for that many trials of other changes.
  double canonical_trials = 6;

  double together_share = 0.25;  // kept for trying rungs together that were rejected alone, or not tried

  // A rung that lost is taken apart: all races of its parts, and one of them.
  double parts_share = 0.1;
  RaceRule parts{0.6, 0.004};

  // The rung "tune" limits all its trials on the whole model, and each of them. A single choice gains little, so its
  // interval must be narrow; no race shows the gain of a problem that takes less than `visible` of a run.
  double choices_share = 0.2;
  RaceRule choice{0.6, 0.002};
  double visible = 2 * choice.half_width;

  // Kept for the choice of a precision within a stated error. A mixture's race against the plan to begin with.
  double precision_share = 0.6;
  RaceRule mixture{0.5, 0.005, 0.2};
  double mixture_share = 0.04;  // of what is left

  double ablation_share = 0.02, ablation_least_s = 0.2, ablation_half_width = 0.01;  // one rung left out

  Allowance final_plan{0.15, 5};  // kept for the work after the climb
  // The first plan is raced against the last one, if there is `headline_slack` times the time of building the first.
  RaceRule headline{1, 0.005, 1};
  double headline_share_of_rest = 0.3;
  RaceRule cheaper{0.5, 0.01, 0.1};  // the final plan against one in a cheaper precision
  double headline_slack = 1.5;
  // The final plan's race against the default one has that many pairs, however far the budget is spent: fewer have no
  // interval, and would give up changes that each won a race.
  int guard_pairs = 6, guard_looks = 2;
  RaceRule guard{headline.seconds, headline.half_width, headline.patience_s, guard_pairs};
  double gpu_profile_s = 1;          // a profile of a GPU takes at least that long
  double start_profile_share = 0.1;  // and may take that much of the budget, to say where to look first
  double roomy = 1.5;                // a budget that suffices is that much larger than its changes take: some tune
  // A change is tried while that many runs fit, besides building it: both sides of a pair, each with its warm-up.
  double pair_runs = 4;
  // The final measurements need at least that many runs: latency, launches one by one, cold.
  double final_runs = 8;
  // Leaving a rung out may save this share of the excess over its floors: it rarely saves any.
  double without_reach = 0.05;
  double latency_share_of_rest = 0.3, latency_most_s = 1;  // of one cadence
  double robot_hz = 20;                                    // the steady rate that reports give beside back to back
  double sensors_s = 1;  // of runs, for a GPU's sensors of clocks and power to see them
  // A profile ends each of its parts with the run in which its seconds are spent, and warms up twice.
  double begun_runs = 5;
  double profile_s = 3.3;  // enough for quiet medians; a climb with less time left gives less
  // The seconds of a profile on a processor: launches one by one, warm runs, cold runs. On a GPU events time launches.
  double steps_share = 0.45, warm_share = 0.1, cold_share = 0.45;
  double gpu_runs_s = 0.3;  // warm runs, and as long for cold ones
  // These are upper limits. Slow models stop earlier: a measurement ends with the run in which its seconds are spent.
  size_t profile_rounds = 21, cold_runs = 12, timed_runs = 100'000;
};
inline constexpr Schedule kSchedule;

// Returns the seconds for writing a plan of `bytes`, and the reports: measured 0.15 s for 90 MB, 6 s for 6.5 GB.
inline double writing_seconds(double bytes) { return 0.05 + bytes * 1e-9; }

}  // namespace rung
