// The best rates that were ever seen on a machine, in a file: a floor then stands still, whatever the load of the
// moment.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"
#include "ladder/result.hpp"

namespace rung {

// peaks.json in the folder of the tuning database `database`; empty where that is.
std::string peaks_beside(const std::string& database);

// `measured` with each rate (FLOP/s, memory) raised to the best that the file knows of `machine`, which learns of what
// is better. Load can only make a rate look smaller, so the best one is the machine's. Hand-off and barrier stay as
// measured: they are taken off times of the same moment. An empty path keeps nothing.
//
// Written atomically, without a lock: what two writers at once lose, the next measurement brings again. A file that
// cannot be read is left as it is and said in one line on the log; `measured` is given back then.
Peaks best_of_kept(const std::string& path, const std::string& machine, const Peaks& measured);

}  // namespace rung
