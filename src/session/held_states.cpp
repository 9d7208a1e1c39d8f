// Copies values out of a session and back.
// SPDX-License-Identifier: Apache-2.0
#include "session/held_states.hpp"

namespace rung {
namespace {

constexpr size_t kSmall = 4096;  // bytes: copying caches would take longer than the runs

}  // namespace

bool HeldStates::holds(const PlanState& state) {
  return state.type.bytes() <= kSmall && state.initial != Initial::nothing;
}

Result<HeldStates> HeldStates::of(Session& session) {
  HeldStates held(session);
  for (const PlanState& state : session.plan().states) {
    if (!holds(state)) continue;
    RUNG_TRY(held.values_[state.name], session.state(state.name));
  }
  return held;
}

Status HeldStates::restore() const {
  for (const auto& [name, value] : values_) RUNG_CHECK(session_->set_state(name, value));
  return {};
}

}  // namespace rung
