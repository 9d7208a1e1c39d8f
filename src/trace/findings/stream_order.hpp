// Finds work that waits for work on other streams, as far as a recording shows it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

// Returns for each piece of work whether it may wait for earlier work on other streams. This is so if the host made the
// stream wait for an event since its launch before, if work launched in time begins late although its own stream is
// free, and if nothing shows it: inside a graph, or without a launch. Other streams are independent.
std::vector<bool> waits_for_other_streams(const Analysis& analysis);

// Returns how much sooner the device's work would end if all of it were launched at once: streams that a host keeps
// apart by launching one after the other then run side by side. 0 on one stream.
int64_t overlap_ns(const Analysis& analysis);

}  // namespace rung::trace
