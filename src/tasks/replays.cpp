// Replays compared bit for bit.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/replays.hpp"

#include <cstring>

#include "device/gpu/gpu.hpp"
#include "measure/resources.hpp"

namespace rung::tasks {
namespace {

using Outputs = std::vector<std::pair<std::string, Tensor>>;

// Of the first output with other bits; empty: none.
std::string differing(const Outputs& a, const Outputs& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(a[i].second.data(), b[i].second.data(), a[i].second.bytes()) != 0) return a[i].first;
  return {};
}

Result<double> free_device_bytes(const Plan& plan) {
  if (!plan.target->gpu) return 0.0;
  RUNG_TRY(gpu::MemoryInfo memory, plan.target->gpu->memory());
  return static_cast<double>(memory.free);
}

}  // namespace

Result<Replays> replay(Session& session, int64_t count, const Interrupted& interrupted) {
  Replays replays;
  RUNG_CHECK(session.run());
  RUNG_TRY(Outputs first, session.outputs());
  double resident = resident_bytes();
  RUNG_TRY(double free, free_device_bytes(session.plan()));
  while (replays.count < count && !replays.interrupted) {
    RUNG_CHECK(session.run());
    RUNG_TRY(Outputs outputs, session.outputs());
    ++replays.count;
    if (std::string name = differing(first, outputs); replays.difference.empty() && !name.empty())
      replays.difference = fmt::format("replay {} gave other bits in '{}'", replays.count, name);
    replays.interrupted = replays.count < count && wants_end(interrupted);
  }
  RUNG_TRY(double left, free_device_bytes(session.plan()));
  replays.resident_growth = resident_bytes() - resident;
  replays.device_growth = free - left;
  return replays;
}

}  // namespace rung::tasks
