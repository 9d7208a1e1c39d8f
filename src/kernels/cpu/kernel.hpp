// A call of a CPU kernel, and the table of all CPU kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

#include "device/cpu/team.hpp"
#include "kernels/fault.hpp"
#include "kernels/kernel.hpp"

namespace rung::cpu {

// One call on one thread. Every thread of the team makes the same call with its own `thread`; when all have returned
// the output is complete. Inside, call.team->barrier() orders phases.
struct Call {
  const Problem& problem;
  const void* const* inputs;  // by operand; a packed operand points to what pack() made
  void* output;               // results_of(problem) says where in it each result stands
  void* scratch;              // scratch_bytes(), 64-byte aligned, shared by the team; contents undefined
  const void* state;          // what prepare() returned
  int thread;
  Team* team;
  std::atomic<Fault>* fault;  // set where operands' values cannot be used
  template <class T>
  const T* in(size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* out() const {
    return static_cast<T*>(output);
  }
};

// The rows of an op's family stand together, in order of preference, its fallback last.
std::span<const Kernel* const> all_kernels();

}  // namespace rung::cpu
