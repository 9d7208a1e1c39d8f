// Reads the calling thread's processor time, and /proc/self/task/*/schedstat.
// SPDX-License-Identifier: Apache-2.0
#include "measure/processor_time.hpp"

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "measure/clock.hpp"

namespace rung {
namespace {

int processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

// Each thread's file holds "ran waited slices", the times in nanoseconds.
int64_t waited_ns() {
  int64_t sum = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator thread("/proc/self/task", error), end; !error && thread != end;
       thread.increment(error)) {
    int64_t ran = 0, waited = 0;
    if (std::ifstream(thread->path() / "schedstat") >> ran >> waited) sum += waited;
  }
  return sum;
}

}  // namespace

ProcessorSample read_processor_sample() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return {now_ns(), int64_t{cpu.tv_sec} * 1'000'000'000 + cpu.tv_nsec, waited_ns()};
}

double share_taken(const ProcessorSample& before, const ProcessorSample& after, int threads) {
  const auto seconds = static_cast<double>(after.ns - before.ns);
  if (seconds <= 0 || threads > processors()) return 0;
  const double caller = 1 - static_cast<double>(after.cpu_ns - before.cpu_ns) / seconds;
  const double all = static_cast<double>(after.waited_ns - before.waited_ns) / (seconds * std::max(threads, 1));
  return std::clamp(std::max(caller, all), 0.0, 1.0);
}

}  // namespace rung
