// Which work waits for work on other streams, as far as a recording shows it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

// Per piece of work: it may wait for those before it on other streams. So it is where the host had a stream wait for an
// event since the stream's launch before, where work that was launched in time begins late although its own stream is
// free, and where nothing tells: inside a graph, or without a launch. Other streams are independent.
std::vector<bool> waits_for_other_streams(const Analysis& analysis);

// By how much the device's work would end sooner with all of it launched at once: streams that a host keeps apart by
// launching one after the other run side by side. 0 on one stream.
int64_t overlap_ns(const Analysis& analysis);

}  // namespace rung::trace
