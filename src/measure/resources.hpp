// What this process has used.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace rung {

// The largest resident set so far, in bytes (Linux counts in KiB).
inline double peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// The resident set now, in bytes.
inline double resident_bytes() {
  double total = 0, resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace rung
