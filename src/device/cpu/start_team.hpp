// Starts teams of as many threads as someone asks for, who may ask for too many.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/status.hpp"
#include "device/cpu/team.hpp"

namespace rung::cpu {

inline constexpr int kMostThreads = 1024;

// Errors: less than 1 or more than kMostThreads.
Status check_threads(int threads);
// Errors: those of check_threads(), and threads that the system refuses; then no thread is left.
Result<std::shared_ptr<Team>> start_team(int threads, Pinning pinning = Pinning::none);

}  // namespace rung::cpu
