// Small states as they are, to be brought back after runs that are timed and serve nobody.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "session/session.hpp"

namespace rung {

// A position in a text, for instance: a plan may be timed any number of times, but a text would outgrow its caches.
class HeldStates {
 public:
  // Returns whether a state is held: it has an initial value, and at most 4 KiB.
  static bool holds(const PlanState& state);
  // Copies the values of those states. Errors: the device failed.
  static Result<HeldStates> of(Session& session);
  // Gives them those values again. Errors: the device failed.
  Status restore() const;

 private:
  explicit HeldStates(Session& session) : session_(&session) {}
  Session* session_;
  NamedTensors values_;
};

}  // namespace rung
