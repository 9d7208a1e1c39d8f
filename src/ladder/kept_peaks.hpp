// The best rates ever seen on a machine, in a file: a floor then stays constant, whatever the load of the moment.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"
#include "ladder/result.hpp"

namespace rung {

// Returns peaks.json in the folder of the tuning database `database`; empty if that is.
std::string peaks_beside(const std::string& database);

// Returns `measured` with each rate (FLOP/s, memory) raised to the best that the file has for `machine`, and adds
// better rates to the file. Load can only make a rate look smaller, so the best one is the machine's. Hand-off and
// barrier stay as measured: they are subtracted from times of the same moment. An empty path keeps nothing.
//
// The file is written atomically, without a lock: if two writers at once lose a rate, the next measurement brings it.
// A file that cannot be read is left as it is and reported in one line on the log; `measured` is returned then.
Peaks best_of_kept(const std::string& path, const std::string& machine, const Peaks& measured);

}  // namespace rung
