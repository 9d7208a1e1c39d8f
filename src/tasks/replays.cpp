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

Result<Replays> replay(Session& session, int64_t count) {
  Replays replays{.count = count};
  RUNG_CHECK(session.run());
  RUNG_TRY(Outputs first, session.outputs());
  double resident = resident_bytes();
  RUNG_TRY(double free, free_device_bytes(session.plan()));
  for (int64_t i = 0; i < count; ++i) {
    RUNG_CHECK(session.run());
    RUNG_TRY(Outputs outputs, session.outputs());
    if (std::string name = differing(first, outputs); replays.difference.empty() && !name.empty())
      replays.difference = fmt::format("replay {} gave other bits in '{}'", i + 1, name);
  }
  RUNG_TRY(double left, free_device_bytes(session.plan()));
  replays.resident_growth = resident_bytes() - resident;
  replays.device_growth = free - left;
  return replays;
}

}  // namespace rung::tasks
