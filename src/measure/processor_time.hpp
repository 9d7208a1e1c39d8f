// The share of a measurement's time in which others had the processors that its threads wanted.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

struct ProcessorSample {
  int64_t ns = 0;         // on the monotonic clock
  int64_t cpu_ns = 0;     // processor time of the calling thread
  int64_t waited_ns = 0;  // all threads of this process, together, for a processor; 0 where the system does not tell
};
ProcessorSample read_processor_sample();

// The source of processor_sample(): read_processor_sample, or a test's.
inline ProcessorSample (*processor_sample)() = read_processor_sample;

// Returns the share, from 0 to 1, of the time between two samples in which others (programs, or a hypervisor) had the
// processors that `threads` threads of this process wanted. The thread that takes both samples must not sleep between.
// With more threads than processors the threads take them from each other, and nothing can be said: 0.
double share_taken(const ProcessorSample& before, const ProcessorSample& after, int threads);

}  // namespace rung
