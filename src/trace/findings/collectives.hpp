// Collectives among the device's work: what is known of each, what of its time is a wait for other ranks, and what of
// their time nothing else runs in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trace/analysis/analysis.hpp"
#include "trace/findings/evidence.hpp"

namespace rung::trace {

struct Collective {
  uint32_t work = kNone;       // in Analysis::work
  uint32_t ranks = 0;          // of its group; unknown: 0
  int64_t message_bytes = -1;  // unknown: -1
  // A rank that comes first waits inside its kernel for the others, then data moves. What exceeds both the quickest one
  // of the same kernel and message and what a slow link takes was a wait; none is told where the message is unknown.
  int64_t wait_ns = 0;
};

// By start. What is known of a group and its message is noted by the operation around the launch; a graph's replay has
// none.
std::vector<Collective> collectives_of(const Analysis& analysis);

// So small that latency decides, not bandwidth. Where the size is not recorded, a short one counts as small.
inline constexpr int64_t kMostSmallBytes = 512 << 10;
inline constexpr int64_t kMostSmallNs = 60'000;
bool is_small(const Analysis& analysis, const Collective& collective);

// The time in which these run, or the part named of each, and no other work of the device does.
enum class Part : uint8_t { whole, wait, transfer };
int64_t exposed_ns(const Analysis& analysis, const std::vector<Collective>& collectives, Part part = Part::whole);

// Their times by kernel.
Tally tally_of(const Analysis& analysis, const std::vector<Collective>& collectives, Part part);

// "AMD Instinct MI300X", an MI325X, MI350X or MI355X: eight to a machine, each with a link to every other.
bool is_fully_linked_amd(const Analysis& analysis);
bool is_amd(const Analysis& analysis);

}  // namespace rung::trace
