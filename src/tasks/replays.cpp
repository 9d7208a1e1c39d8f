// Compares replays bit for bit.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/replays.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "device/gpu/gpu.hpp"
#include "measure/resources.hpp"

namespace rung::tasks {
namespace {

using Outputs = std::vector<std::pair<std::string, Tensor>>;

// Returns the first output with other bits; empty: none.
std::string differing(const Outputs& a, const Outputs& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(a[i].second.data(), b[i].second.data(), a[i].second.bytes()) != 0) return a[i].first;
  return {};
}

// Returns the outputs of all runs of one sequence.
Result<Outputs> run_sequence(SetSession& session) {
  constexpr int kRunsWithStates = 3;
  RUNG_CHECK(session.reset_states());
  Outputs all;
  for (size_t plan = 0; plan < session.plans().size(); ++plan)
    for (int run = 0; run < (session.plans()[plan]->states.empty() ? 1 : kRunsWithStates); ++run) {
      RUNG_CHECK(session[plan].run());
      RUNG_TRY(Outputs outputs, session[plan].outputs());
      std::move(outputs.begin(), outputs.end(), std::back_inserter(all));
    }
  return all;
}

Result<double> free_device_bytes(const Plan& plan) {
  if (!plan.target->gpu) return 0.0;
  RUNG_TRY(gpu::MemoryInfo memory, plan.target->gpu->memory());
  return static_cast<double>(memory.free);
}

}  // namespace

Result<Replays> replay(SetSession& session, int64_t count, const Interrupted& interrupted) {
  Replays replays;
  RUNG_TRY(const Outputs first, run_sequence(session));
  double resident = resident_bytes();
  RUNG_TRY(double free, free_device_bytes(session.plans().first()));
  while (replays.count < count && !replays.interrupted) {
    RUNG_TRY(const Outputs outputs, run_sequence(session));
    ++replays.count;
    if (std::string name = differing(first, outputs); replays.difference.empty() && !name.empty())
      replays.difference = fmt::format("replay {} gave other bits in '{}'", replays.count, name);
    replays.interrupted = replays.count < count && wants_end(interrupted);
  }
  RUNG_TRY(double left, free_device_bytes(session.plans().first()));
  replays.resident_growth = resident_bytes() - resident;
  replays.device_growth = free - left;
  return replays;
}

}  // namespace rung::tasks
