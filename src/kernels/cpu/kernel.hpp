// A call of a CPU kernel, and the table of all CPU kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

#include "device/cpu/share.hpp"
#include "ir/fault.hpp"
#include "kernels/kernel.hpp"

namespace rung::cpu {

// A call of one part, in one phase. Parts are called once each, by whichever thread of the team is free; when all have
// returned, in every phase, the output is complete. What a part writes depends on the part alone.
struct Call {
  const Problem& problem;
  const void* const* inputs;  // by operand; a packed operand points to what pack() made
  void* output;               // results_of(problem) says where in it each result stands
  void* scratch;              // scratch_bytes(), 64-byte aligned, shared by all parts; contents undefined
  const void* state;          // what prepare() returned
  std::atomic<Fault>* fault;  // set where operands' values cannot be used
  int parts = 1, part = 0, phase = 0;
  int thread = 0;  // of problem.threads: calls of one never overlap, so each may have its own scratch
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
