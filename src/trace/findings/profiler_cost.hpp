// The host's time that recording itself took, as far as the recording tells.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/analysis/analysis.hpp"
#include "trace/findings/held_host.hpp"

namespace rung::trace {

// The largest share of the host's recorded time that the program itself can have taken; 1 where nothing tells. A
// profiler is at work at the start and at the end of each operation. The shortest time between the starts of an
// operation and of the first one inside it has little else in it than one of the two: twice that, for each operation,
// was the profiler's. Measured on the host of an H200, PyTorch 2.11 with shapes: 4 to 6 times that, so that the share
// is rather too large.
double largest_own_share(const Analysis& analysis, const HeldHost& host);

}  // namespace rung::trace
