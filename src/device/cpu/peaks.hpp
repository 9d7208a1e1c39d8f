// Measures peaks of this processor, from which the floors of every op are computed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/cpu/team.hpp"

namespace rung::cpu {

constexpr double kPeakSeconds = 0.3;  // the most per peak if other processes hold the cores; at least one trial

// Measures reading from memory, past all caches, with all threads, in GB/s (1e9).
double measure_read_gbps(Team& team, double most_seconds = kPeakSeconds);
// Measures f32 multiply-adds on registers alone, with all threads, in GFLOP/s (a multiply-add counts two).
double measure_fma_gflops(Team& team, double most_seconds = kPeakSeconds);
// Measures the microseconds that handing parts to the spinning team and having them back add to the parts' own time.
double measure_handoff_us(Team& team, double most_seconds = kPeakSeconds);
// Measures the microseconds that the end of a section and the beginning of the next add inside a run.
double measure_barrier_us(Team& team, double most_seconds = kPeakSeconds);

}  // namespace rung::cpu
