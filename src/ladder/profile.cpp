// Times launches one by one, in the order of the plan, so that each finds its weights as cold as the whole run leaves
// them.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/profile.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "device/cpu/cache_flush.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/peaks.hpp"
#include "ir/semantics.hpp"
#include "ir/text.hpp"
#include "ladder/kept_peaks.hpp"
#include "ladder/profile_gpu.hpp"
#include "measure/clock.hpp"
#include "measure/cost.hpp"
#include "measure/statistics.hpp"
#include "plan/step_cost.hpp"
#include "session/held_states.hpp"
#include "session/sequence_start.hpp"
#include "session/timed_run.hpp"
#include "tune/trial.hpp"

namespace rung {
namespace {

double us_between(int64_t begin_ns, int64_t end_ns) { return static_cast<double>(end_ns - begin_ns) * 1e-3; }

Result<std::vector<LaunchTime>> time_round(Session& session) {
  std::vector<LaunchTime> round;
  const int64_t begin = now_ns();
  for (size_t i = 0; i < session.plan().steps.size(); ++i) {
    const int64_t start = i == 0 ? begin : now_ns();
    RUNG_CHECK(session.recorder().run_step(i));
    round.push_back({us_between(begin, start), us_between(start, now_ns())});
  }
  return round;
}

// A round moves a decoder's position, as a run does, and a text would outgrow its caches.
Result<std::vector<std::vector<LaunchTime>>> time_steps(Session& session, double seconds,
                                                        const Interrupted& interrupted) {
  RUNG_TRY(const HeldStates held, HeldStates::of(session));
  std::vector<std::vector<LaunchTime>> rounds;
  int64_t end = now_ns() + static_cast<int64_t>(seconds * 1e9);
  while (rounds.empty() || (rounds.size() < kSchedule.profile_rounds && now_ns() < end)) {
    RUNG_CHECK(check_interrupted(interrupted));
    RUNG_TRY(rounds.emplace_back(), time_round(session));
    RUNG_CHECK(held.restore());
  }
  return rounds;
}

double median_us(const std::vector<std::vector<LaunchTime>>& rounds, size_t step) {
  std::vector<double> us;
  for (const auto& round : rounds) us.push_back(round[step].us);
  return median(std::move(us));
}

// Drops from the caches what a run reads and writes: weights, inputs and intermediate values.
Status make_cold(Session& session) {
  const Plan& plan = session.plan();
  for (const auto& weight : plan.weights) cpu::flush_from_caches(session.team(), {weight.data.get(), weight.bytes});
  for (uint32_t i = 0; i < plan.buffers.size(); ++i)
    if (const std::byte* data = session.recorder().host_buffer(i))
      cpu::flush_from_caches(session.team(), {data, plan.buffers[i].bytes});
  return {};
}

// Times at most `most` runs, at least one, and only one where instructions are counted; `before` runs ahead of each,
// outside its time.
Result<Latency> time_until(Session& session, double seconds, size_t most, const std::function<Status()>& before,
                           const Interrupted& interrupted) {
  if (session.plan().target->machine.gpu.counts_instructions) most = 1;
  std::vector<double> ms;
  const int64_t end = now_ns() + static_cast<int64_t>(seconds * 1e9);
  while (ms.empty() || (now_ns() < end && ms.size() < most)) {
    RUNG_CHECK(check_interrupted(interrupted));
    RUNG_CHECK(before());
    RUNG_TRY(double run_s, timed_run(session));
    ms.push_back(run_s * 1e3);
  }
  const Summary s = summarize(ms);
  return Latency{s.median, s.min, s.p90, s.p99, s.ci95, s.count};
}

// Returns the best rate of the linear rows, of which it runs as many as the seconds allow in order of preference, on a
// square problem too large for the first caches.
double gemm_gflops(cpu::Team& team, DType dtype, double seconds) {
  constexpr int64_t m = 256, n = 1024, k = 1024;
  auto operand = [&](DType d, Shape shape, bool constant) {
    return Operand{d, shape, contiguous_strides(shape), constant};
  };
  Problem problem{.op = Linear{.out = dtype},
                  .inputs = {operand(dtype, {m, k}, false), operand(dtype, {n, k}, true)},
                  .output = operand(dtype, {m, n}, false),
                  .threads = team.size()};
  TrialOperands operands(problem);
  double best = 0;
  const int64_t end = now_ns() + static_cast<int64_t>(seconds * 1e9);
  for (const auto& candidate : candidates_for(cpu_target(), problem).list) {
    if (!candidate.params.empty() || candidate.kernel->role == Role::fallback) continue;
    if (best > 0 && now_ns() >= end) break;
    Trial trial(operands, candidate, 0);
    best = std::max(best, 2e-3 * static_cast<double>(m * n * k) / trial.time(team, kSchedule.product_s).us);
  }
  return best;
}

// Peaks of teams by thread count. The lock is held while a team is measured: a second team would disturb it.
struct KnownPeaks {
  std::mutex mutex;
  std::map<int, Peaks> by_threads;
};
KnownPeaks& known_peaks() {
  static KnownPeaks known;
  return known;
}

}  // namespace

Result<std::vector<double>> launch_us(Session& session, const NamedTensors& inputs, double seconds,
                                      const Interrupted& interrupted) {
  RUNG_CHECK(session.set_inputs(inputs));
  RUNG_TRY(const HeldStates held, HeldStates::of(session));
  RUNG_CHECK(session.run());
  RUNG_CHECK(held.restore());
  RUNG_TRY(std::vector<double> us, session.recorder().step_us());
  RUNG_CHECK(held.restore());
  if (session.plan().target->gpu) return us;
  RUNG_TRY(auto rounds, time_steps(session, seconds, interrupted));
  const double handoff_us = machine_peaks(session.team()).handoff_us;
  for (size_t i = 0; i < session.plan().steps.size(); ++i)
    us.push_back(std::max(0.0, median_us(rounds, i) - handoff_us));
  return us;
}

Multiplies multiplied_by(const Step& step, const Target& target) {
  const Semantics semantics = semantics_of(step.op, operand_types(step), type_of(step.output));
  size_t products = 0, narrow = 0, bytes = 0;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (!semantics.operands[i].is_product()) continue;
    const DType dtype = step.inputs[i].view.dtype;
    const bool is_byte = is_quantised(dtype) || dtype == DType::u8;
    ++products, bytes += is_byte;
    narrow += is_byte || (target.gpu ? is_narrow(dtype) : dtype == DType::bf16);
  }
  if (products == 0 || narrow < products) return Multiplies::wide;
  return bytes == products ? Multiplies::bytes : Multiplies::narrow;
}

// Returns the rate that a product's floor assumes. That of 8 bits is not measured: no device here has a higher one than
// twice that of 16 bits, and than four times that of f32 where it computes 16 bits as f32.
static double gflops_of(const Peaks& peaks, Multiplies types) {
  if (types == Multiplies::wide) return peaks.gemm_f32_gflops;
  if (types == Multiplies::narrow) return peaks.gemm_bf16_gflops;
  return std::max(2 * peaks.gemm_bf16_gflops, 4 * peaks.gemm_f32_gflops);
}

void add_op(Profile& profile, const Step& step, double us, const Target& target) {
  const double gflops = gflops_of(profile.peaks, multiplied_by(step, target));
  const Cost cost = cost_behind(step, profile.tokens_before);
  const double floor_s = floor_seconds(cost, gflops * 1e9, profile.peaks.read_gbps * 1e9);
  profile.ops.push_back({.label = step.label,
                         .op = print_op(step.op),
                         .kernel = step.choice.kernel,
                         .problem = step.problem,
                         .category = step.category,
                         .us = us,
                         .floor_us = floor_s * 1e6,
                         .flops = cost.flops,
                         .bytes = cost.bytes});
  profile.floor_ms += profile.ops.back().floor_us * 1e-3;
}

Trace trace_of(const Plan& plan, const std::string& title, const std::vector<LaunchTime>& launches) {
  Trace trace;
  trace.name_process(1, "rung " + plan.model);
  trace.name_thread(1, 0, title);
  for (size_t i = 0; i < launches.size(); ++i) {
    const Step& step = plan.steps[i];
    trace.add(
        {.name = step.label.empty() ? std::string(name_of(step.op)) : step.label,
         .category = std::string(name_of(step.category)),
         .start_us = launches[i].start_us,
         .duration_us = launches[i].us,
         .args = {
             {"kernel", step.choice.kernel}, {"problem", step.problem}, {"flops", step.flops}, {"bytes", step.bytes}}});
  }
  return trace;
}

void know_peaks(int threads, const Peaks& peaks) {
  std::lock_guard lock(known_peaks().mutex);
  known_peaks().by_threads[threads] = peaks;
}

Peaks machine_peaks(cpu::Team& team, double seconds, const std::string& peaks_file) {
  const double most = kSchedule.peak_share * seconds, most_products = kSchedule.product_share * seconds;
  std::lock_guard lock(known_peaks().mutex);
  auto [it, added] = known_peaks().by_threads.try_emplace(team.size());
  if (!added) return it->second;
  Peaks& peaks = it->second;
  peaks.fma_f32_gflops = cpu::measure_fma_gflops(team, most);
  peaks.gemm_f32_gflops = std::max(gemm_gflops(team, DType::f32, most_products), peaks.fma_f32_gflops);
  peaks.gemm_bf16_gflops = std::max(gemm_gflops(team, DType::bf16, most_products), peaks.fma_f32_gflops);
  peaks.read_gbps = cpu::measure_read_gbps(team, most);
  peaks.handoff_us = cpu::measure_handoff_us(team, most);
  peaks.barrier_us = cpu::measure_barrier_us(team, most);
  const std::string machine =
      fmt::format("{} on {} threads of {}", cpu_target().fingerprint, team.size(), cpu::cpu_info().cores);
  return peaks = best_of_kept(peaks_file, machine, peaks);
}

Result<Latency> time_runs(Session& session, double seconds, const Interrupted& interrupted) {
  RUNG_TRY(const HeldStates held, HeldStates::of(session));
  RUNG_CHECK(session.run());
  RUNG_CHECK(held.restore());
  return time_until(
      session, seconds, kSchedule.timed_runs, [] { return Status(); }, interrupted);
}

Result<Latency> time_cold_runs(Session& session, double seconds, const std::function<Status()>& make_cold,
                               const Interrupted& interrupted) {
  return time_until(session, seconds, kSchedule.cold_runs, make_cold, interrupted);
}

Result<Profile> profile_session(Session& session, const NamedTensors& inputs, double seconds,
                                const Interrupted& interrupted, const std::string& peaks_file) {
  RUNG_CHECK(check_interrupted(interrupted));
  RUNG_CHECK(session.set_inputs(inputs));
  RUNG_TRY(const HeldStates held, HeldStates::of(session));
  RUNG_CHECK(session.run());
  RUNG_CHECK(held.restore());
  if (session.plan().target->gpu) return profile_gpu_session(session, interrupted, peaks_file);
  Profile profile;
  RUNG_TRY(profile.tokens_before, tokens_before(session));
  profile.peaks = machine_peaks(session.team(), kSchedule.peaks.most_s, peaks_file);
  RUNG_TRY(auto rounds, time_steps(session, kSchedule.steps_share * seconds, interrupted));
  double launched_us = 0;
  for (size_t i = 0; i < session.plan().steps.size(); ++i) {
    const Step& step = session.plan().steps[i];
    double us = std::max(0.0, median_us(rounds, i) - profile.peaks.handoff_us);
    launched_us += us;
    add_op(profile, step, us, *session.plan().target);
  }
  profile.trace = trace_of(session.plan(), "launches", rounds.back());
  RUNG_TRY(Latency warm, time_runs(session, kSchedule.warm_share * seconds, interrupted));
  profile.host_us = std::max(0.0, warm.median_ms * 1e3 - launched_us);
  RUNG_TRY(profile.cold, time_cold_runs(
                             session, kSchedule.cold_share * seconds, [&] { return make_cold(session); }, interrupted));
  return profile;
}

std::map<std::string, double> by_category_us(const Profile& profile) {
  std::map<std::string, double> us;
  for (const auto& op : profile.ops) us[std::string(name_of(op.category))] += op.us;
  us[std::string(name_of(Category::launch))] += profile.host_us;
  return us;
}

std::vector<Choice> choices_of(const Plan& plan, const std::vector<TuneTask>& tasks, const TuningDatabase& database) {
  std::vector<Choice> choices;
  for (const TuneTask& task : tasks) {
    const auto* entry = valid_entry(database, task);
    if (!entry) continue;
    Choice choice{task.key, task.count, entry->choice.kernel, "fastest when tuned alone", entry->candidates};
    if (Verdict sure = is_sure(*entry); !sure) choice.reason += "; not sure: " + sure.reason;
    auto used = plan.recipe.choices.find(task.key);
    if (used == plan.recipe.choices.end()) {
      choice.reason = "not used: the rung gemm is not in the plan";
    } else if (!(used->second == entry->choice)) {
      choice.chosen = used->second.kernel;
      choice.reason = used->second == choice_of(*entry, task) ? "nearly as fast, and lookups read its table"
                                                              : "faster in the whole model";
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace rung
