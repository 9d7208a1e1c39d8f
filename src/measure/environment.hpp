// What a measurement was made on, and whether something disturbed it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace rung {

// processor, microcode, cores, kernel, os, compiler, governor, frequency, load, hypervisor, memory, rung. A fact that
// the system does not tell is "unknown".
std::map<std::string, std::string> read_environment();

// The counters that show interference; differences of two samples are what counts.
struct NoiseSample {
  double seconds = 0;       // monotonic
  double total_s = 0;       // processor time of all cores, busy or idle
  double steal_s = 0;       // taken by the hypervisor for others
  int64_t preemptions = 0;  // involuntary context switches of this process
  double megahertz = 0;     // mean over cores; 0 if the system does not tell
};
NoiseSample read_noise_sample();

// One line on what disturbed the time between two samples, or nothing: more than 1 % stolen, more than 20 preemptions
// per second, or the clock down by more than 5 %.
std::string describe_noise(const NoiseSample& before, const NoiseSample& after);

// Watches from its construction on.
class NoiseWatch {
 public:
  NoiseWatch() : before_(read_noise_sample()) {}
  std::string warning() const { return describe_noise(before_, read_noise_sample()); }

 private:
  NoiseSample before_;
};

}  // namespace rung
