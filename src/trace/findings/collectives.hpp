// Collectives among the device's work: their groups and messages, the time in them spent on waiting for other ranks,
// and the time in which nothing else runs.
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
  uint32_t ranks = 0;          // in its group; unknown: 0
  int64_t message_bytes = -1;  // unknown: -1
  // A rank that arrives first waits inside its kernel for the others, then data moves. The wait is the time beyond the
  // quickest run of the same kernel and message, or beyond a slow link's time if that is shorter; 0 for unknown
  // messages.
  int64_t wait_ns = 0;
};

// Returns collectives by start. The operation around the launch records a group and its message; a graph's replay has
// no such operation.
std::vector<Collective> collectives_of(const Analysis& analysis);

// Limits below which latency dominates, not bandwidth. If the size is not recorded, a short collective counts as small.
inline constexpr int64_t kMostSmallBytes = 512 << 10;
inline constexpr int64_t kMostSmallNs = 60'000;
bool is_small(const Analysis& analysis, const Collective& collective);

// Returns the time in which these, or the named part of each, run while the device does no other work.
enum class Part : uint8_t { whole, wait, transfer };
int64_t exposed_ns(const Analysis& analysis, const std::vector<Collective>& collectives, Part part = Part::whole);

// Returns their times by kernel.
Tally tally_of(const Analysis& analysis, const std::vector<Collective>& collectives, Part part);

// Returns whether the card is an MI300X, MI325X, MI350X or MI355X: eight to a machine, each linked to every other.
bool is_fully_linked_amd(const Analysis& analysis);
bool is_amd(const Analysis& analysis);

}  // namespace rung::trace
