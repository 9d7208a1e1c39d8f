// What this process has used.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/resource.h>

namespace rung {

// The largest resident set so far, in bytes (Linux counts in KiB).
inline double peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

}  // namespace rung
