// Takes device times from the recorder; host time is what a replay takes beyond the device's own.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/profile_gpu.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "device/gpu/cache_flush.hpp"
#include "device/gpu/peaks.hpp"
#include "ir/text.hpp"
#include "ladder/kept_peaks.hpp"
#include "measure/clock.hpp"
#include "measure/cost.hpp"
#include "measure/statistics.hpp"
#include "session/held_states.hpp"
#include "session/sequence_start.hpp"

namespace rung {
Result<Peaks> gpu_machine_peaks(const Target& target, const std::string& peaks_file) {
  static std::mutex mutex;
  static std::map<const Target*, Peaks> known;
  std::lock_guard lock(mutex);
  if (auto it = known.find(&target); it != known.end()) return it->second;
  RUNG_TRY(gpu::GpuPeaks measured, gpu::measure_peaks(*target.gpu, target.machine.gpu.preferred_library()));
  const Peaks peaks{.gemm_f32_gflops = measured.gemm_f32_gflops,
                    .gemm_bf16_gflops = measured.gemm_bf16_gflops,
                    .read_gbps = measured.read_gbps};
  const std::string file = target.machine.gpu.counts_instructions ? "" : peaks_file;
  return known[&target] = best_of_kept(file, target.fingerprint, peaks);
}

Result<Profile> profile_gpu_session(Session& session, const Interrupted& interrupted, const std::string& peaks_file) {
  const Plan& plan = session.plan();
  Profile profile;
  RUNG_TRY(profile.peaks, gpu_machine_peaks(*plan.target, peaks_file));
  RUNG_CHECK(check_interrupted(interrupted));
  RUNG_TRY(const HeldStates held, HeldStates::of(session));
  RUNG_TRY(profile.tokens_before, tokens_before(session));
  RUNG_TRY(std::vector<double> us, session.recorder().step_us());
  RUNG_CHECK(held.restore());        // steps that ran alone wrote them, too
  std::vector<LaunchTime> launches;  // in order, on the device's clock
  double at_us = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    add_op(profile, step, us[i], *plan.target);
    launches.push_back({at_us, us[i]});
    at_us += us[i];
  }
  profile.trace = trace_of(plan, "launches, each at its own device time", launches);
  RUNG_TRY(Latency warm, time_runs(session, kSchedule.gpu_runs_s, interrupted));
  RUNG_CHECK(session.run());
  RUNG_CHECK(held.restore());
  double device_ms = session.recorder().device_ms().value_or(0);
  profile.host_us = std::max(0.0, (warm.median_ms - device_ms) * 1e3);
  RUNG_TRY(gpu::CacheFlush flush, gpu::CacheFlush::make(*plan.target->gpu));
  RUNG_TRY(profile.cold, time_cold_runs(
                             session, kSchedule.gpu_runs_s, [&] { return flush.run(); }, interrupted));
  return profile;
}

}  // namespace rung
