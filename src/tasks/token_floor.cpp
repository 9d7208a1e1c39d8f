// Adds up what a plan's steps read.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/token_floor.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "device/cpu/peaks.hpp"
#include "device/cpu/start_team.hpp"
#include "device/gpu/peaks.hpp"
#include "plan/step_cost.hpp"

namespace rung::tasks {
namespace {

double measured_gbps(const Plan& plan) {
  if (!plan.target->gpu) {
    auto team = cpu::start_team(plan.recipe.threads);
    return team ? cpu::measure_read_gbps(**team) : 0;
  }
  const auto peaks = gpu::measure_peaks(*plan.target->gpu, plan.target->machine.gpu.preferred_library());
  return peaks ? peaks->read_gbps : 0;
}

}  // namespace

double bytes_per_token(const Plan& plan, int64_t length) {
  double bytes = 0;
  for (const Step& step : plan.steps) bytes += cost_behind(step, std::max<int64_t>(0, length - 1)).bytes;
  return bytes;
}

double read_gbps(const Plan& plan) {
  static std::mutex measuring;
  static auto& known = *new std::map<std::pair<const Target*, int>, double>;  // texts may end as the process does
  const std::lock_guard lock(measuring);
  const std::pair key(plan.target, plan.recipe.threads);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  return known[key] = measured_gbps(plan);
}

}  // namespace rung::tasks
