// Copies states between the device and the host.
// SPDX-License-Identifier: Apache-2.0
#include "session/small_states.hpp"

#include "session/held_states.hpp"

namespace rung {

Result<SmallStates> SmallStates::of(gpu::Queue& queue, const Plan& plan, const States& states) {
  SmallStates small;
  for (const PlanState& state : plan.states) {
    if (!HeldStates::holds(state)) continue;
    const gpu::Address address = states.address(plan, state.buffer);
    std::vector<std::byte> value(state.type.bytes());
    RUNG_CHECK(queue.download(value.data(), address, value.size()));
    small.values_.emplace_back(address, std::move(value));
  }
  return small;
}

Status SmallStates::restore(gpu::Queue& queue) const {
  if (empty()) return {};
  RUNG_CHECK(queue.wait());
  for (const auto& [address, value] : values_) RUNG_CHECK(queue.upload(address, value.data(), value.size()));
  return {};
}

}  // namespace rung
