// How long work learns that whoever asked for it wants its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "base/status.hpp"

namespace rung {

// Asked between runs, ops and other steps, from the thread that does the work; empty: nobody wants the end.
using Interrupted = std::function<bool()>;

inline bool wants_end(const Interrupted& interrupted) { return interrupted && interrupted(); }

// The error of work that has nothing to give when it ends early.
inline Status check_interrupted(const Interrupted& interrupted) {
  if (wants_end(interrupted)) return was_interrupted("interrupted");
  return {};
}

}  // namespace rung
