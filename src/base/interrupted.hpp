// The callback by which work learns that its caller wants it to end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "base/status.hpp"

namespace rung {

// The working thread asks it between runs, ops and other steps whether to end; empty: nobody wants the end.
using Interrupted = std::function<bool()>;

inline bool wants_end(const Interrupted& interrupted) { return interrupted && interrupted(); }

// Returns the error of work that has no result when it ends early.
inline Status check_interrupted(const Interrupted& interrupted) {
  if (wants_end(interrupted)) return was_interrupted("interrupted");
  return {};
}

}  // namespace rung
