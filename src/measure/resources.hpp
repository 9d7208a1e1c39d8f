// The resources that this process has used.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>

namespace rung {

// Returns the largest resident set so far, in bytes (Linux counts in KiB).
inline double peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// Returns the seconds since this process was started, loading its libraries included; the start is known to 10 ms.
inline double process_seconds() {
  constexpr int kFieldsToStart = 19;  // after the name's ')', see proc(5)
  std::ifstream stat("/proc/self/stat");
  stat.ignore(std::numeric_limits<std::streamsize>::max(), ')');
  std::string word;
  for (int i = 0; i < kFieldsToStart; ++i) stat >> word;
  double ticks = 0;
  timespec now{};
  if (!(stat >> ticks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double start = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  return std::max(0.0, static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - start);
}

// Returns the resident set now, in bytes.
inline double resident_bytes() {
  double total = 0, resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace rung
