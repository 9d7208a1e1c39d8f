// The recorded steps played again with some of it taking no time: what its absence can save.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "advise/advice/held_host.hpp"
#include "advise/analysis/analysis.hpp"

namespace rung::advise {

// What takes no time.
struct Omission {
  std::vector<uint32_t> calls;  // of the host, which goes on at once
  std::vector<uint32_t> work;   // of the device, indices of Analysis::work
};

// How much sooner the device ends, in all steps. A piece of work starts when it was launched and the work before it is
// done; the host waits for what it was seen to wait for. A profiler slows the host: the steps are played with the host
// as fast as recorded, twice and four times as fast, and the largest saving counts.
int64_t most_saved_ns(const Analysis& analysis, const HeldHost& host, const Omission& omission);

}  // namespace rung::advise
