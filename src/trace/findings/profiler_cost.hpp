// The host time that recording itself took, as far as the recording shows it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/analysis/analysis.hpp"
#include "trace/findings/held_host.hpp"

namespace rung::trace {

// Returns the largest share of the host's recorded time that the program itself can have taken; 1 if nothing shows it.
// A profiler works at the start and at the end of each operation. The shortest time between the starts of an operation
// and of the first one inside it contains little but one of the two: twice that time, for each operation, was the
// profiler's. On the host of an H200, PyTorch 2.11 with shapes took 4 to 6 times that, so the share is rather too
// large.
double largest_own_share(const Analysis& analysis, const HeldHost& host);

}  // namespace rung::trace
