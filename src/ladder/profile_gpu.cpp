// Device times come from the recorder; host time is what a replay takes beyond the device's own.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/profile_gpu.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "device/gpu/cache_flush.hpp"
#include "device/gpu/peaks.hpp"
#include "ir/text.hpp"
#include "measure/clock.hpp"
#include "measure/cost.hpp"
#include "measure/statistics.hpp"

namespace rung {
namespace {

double floor_us(const Step& step, const Peaks& peaks) {
  bool narrow = !step.inputs.empty() && step.inputs[0].view.dtype != DType::f32;
  double flops = (narrow ? peaks.gemm_bf16_gflops : peaks.gemm_f32_gflops) * 1e9;
  return floor_seconds({step.flops, step.bytes}, flops, peaks.read_gbps * 1e9) * 1e6;
}

// One after another on the device's clock.
Trace trace_of(const Plan& plan, const std::vector<OpTime>& ops) {
  Trace trace;
  trace.name_process(1, "rung " + plan.model);
  trace.name_thread(1, 0, "launches, each at its own device time");
  double at_us = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const Step& step = plan.steps[i];
    trace.add(
        {.name = step.label.empty() ? std::string(name_of(step.op)) : step.label,
         .category = std::string(name_of(step.category)),
         .start_us = at_us,
         .duration_us = ops[i].us,
         .args = {
             {"kernel", step.choice.kernel}, {"problem", step.problem}, {"flops", step.flops}, {"bytes", step.bytes}}});
    at_us += ops[i].us;
  }
  return trace;
}

}  // namespace

Result<Peaks> gpu_machine_peaks(const Target& target) {
  static std::mutex mutex;
  static std::map<const Target*, Peaks> known;
  std::lock_guard lock(mutex);
  if (auto it = known.find(&target); it != known.end()) return it->second;
  RUNG_TRY(gpu::GpuPeaks measured, gpu::measure_peaks(*target.gpu, target.machine.gpu.library_gemm));
  return known[&target] = {.gemm_f32_gflops = measured.gemm_f32_gflops,
                           .gemm_bf16_gflops = measured.gemm_bf16_gflops,
                           .read_gbps = measured.read_gbps};
}

Result<Profile> profile_gpu_session(Session& session) {
  const Plan& plan = session.plan();
  Profile profile;
  RUNG_TRY(profile.peaks, gpu_machine_peaks(*plan.target));
  RUNG_TRY(std::vector<double> us, session.recorder().step_us());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    profile.ops.push_back({.label = step.label,
                           .op = print_op(step.op),
                           .kernel = step.choice.kernel,
                           .problem = step.problem,
                           .category = step.category,
                           .us = us[i],
                           .floor_us = floor_us(step, profile.peaks),
                           .flops = step.flops,
                           .bytes = step.bytes});
    profile.floor_ms += profile.ops.back().floor_us * 1e-3;
  }
  profile.trace = trace_of(plan, profile.ops);
  RUNG_TRY(Latency warm, time_runs(session, 0.3));
  RUNG_CHECK(session.run());
  double device_ms = session.recorder().device_ms().value_or(0);
  profile.host_us = std::max(0.0, (warm.median_ms - device_ms) * 1e3);
  RUNG_TRY(gpu::CacheFlush flush, gpu::CacheFlush::make(*plan.target->gpu));
  RUNG_TRY(profile.cold, time_cold_runs(session, 0.3, [&] { return flush.run(); }));
  return profile;
}

}  // namespace rung
