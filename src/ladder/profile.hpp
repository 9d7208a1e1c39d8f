// The distribution of a plan's time: each launch timed alone with cold weights, against its floor from this machine's
// peaks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>

#include "base/interrupted.hpp"
#include "ladder/result.hpp"
#include "ladder/schedule.hpp"
#include "measure/trace.hpp"
#include "session/session.hpp"
#include "tune/tuner.hpp"

namespace rung {

struct Profile {
  int64_t tokens_before = 0;  // of a decoder's text: floors are those of this place
  std::vector<OpTime> ops;    // by launch, in order; time_stages() names their stages
  Peaks peaks;
  Latency cold;         // weights and buffers flushed from the caches before each run; on a GPU from its L2
  double host_us = 0;   // per replay, outside kernels: wake-up and barriers
  double floor_ms = 0;  // sum of the ops' floors
  Trace trace;
};

// Measures for about that many seconds, and calls machine_peaks() if nobody has yet; every part is measured at least
// once. Floors are by machine_peaks(). Errors: the first of a run; interrupted, between two runs.
Result<Profile> profile_session(Session& session, const NamedTensors& inputs, double seconds,
                                const Interrupted& interrupted = {}, const std::string& peaks_file = "");

// Returns the microseconds of each launch of a run, by the same measurement, in about that many seconds.
Result<std::vector<double>> launch_us(Session& session, const NamedTensors& inputs, double seconds,
                                      const Interrupted& interrupted = {});

// The types that an op multiplies, by how many of them the device does in a second: bf16 twice as many as f32; f16 the
// same on a GPU only, as rung's kernels for processors widen it to f32; operands that both have 8 bits four times as
// many. Weights of 8 bits beside wider values are widened before they are multiplied.
enum class Multiplies : uint8_t { wide, narrow, bytes };
Multiplies multiplied_by(const Step& step, const Target& target);
// Adds a launch to a profile of either kind of device. Its floor is by the rate of f32 products, or of narrow ones if
// the op multiplies types that `target` multiplies at that rate.
void add_op(Profile& profile, const Step& step, double us, const Target& target);
struct LaunchTime {
  double start_us = 0, us = 0;
};
Trace trace_of(const Plan& plan, const std::string& title, const std::vector<LaunchTime>& launches);

// Returns microseconds of one run by category name; host_us counts as launch.
std::map<std::string, double> by_category_us(const Profile& profile);

// Returns GEMM rate (our kernels' best on a large problem, all threads), read bandwidth, hand-off and barrier; measured
// once per process and thread count, in about that many seconds, or longer if one run of each takes longer. Rates are
// the best that `peaks_file` has of this machine and as many threads (best_of_kept()); empty: the present ones.
Peaks machine_peaks(cpu::Team& team, double seconds = kSchedule.peaks.most_s, const std::string& peaks_file = "");
// Sets the peaks of a team of `threads` threads, in place of measuring them.
void know_peaks(int threads, const Peaks& peaks);

// Times repeated runs for that many seconds, after one that is not timed; at least one run. Errors: the first of a run;
// interrupted.
Result<Latency> time_runs(Session& session, double seconds, const Interrupted& interrupted = {});

// Times runs, each after a call of `make_cold`, which is not timed; at most a dozen, at least one. Errors: the first of
// a run or of `make_cold`; interrupted.
Result<Latency> time_cold_runs(Session& session, double seconds, const std::function<Status()>& make_cold,
                               const Interrupted& interrupted = {});

// Returns all candidates tried for the problems of a plan, from the database.
std::vector<Choice> choices_of(const Plan& plan, const std::vector<TuneTask>& tasks, const TuningDatabase& database);

}  // namespace rung
