// What this processor can do at best, measured: the floors of every op are computed from these.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/cpu/team.hpp"

namespace rung::cpu {

// Reading from memory, past all caches, with all threads, GB/s (1e9). Takes a few tenths of a second.
double measure_read_gbps(Team& team);
// f32 multiply-adds on registers alone, all threads, GFLOP/s (a multiply-add counts two).
double measure_fma_gflops(Team& team);
// Handing an empty function to the spinning team and having it back, microseconds.
double measure_handoff_us(Team& team);
// One barrier inside a run, microseconds.
double measure_barrier_us(Team& team);

}  // namespace rung::cpu
