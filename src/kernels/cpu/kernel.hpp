// A call of a CPU kernel, and the table of all CPU kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

#include "device/cpu/share.hpp"
#include "ir/fault.hpp"
#include "kernels/kernel.hpp"

namespace rung::cpu {

// A call of one part, in one phase. Each part is called once, by whichever thread of the team is free; when all have
// returned, in every phase, the output is complete. The elements that a part writes depend on the part alone.
struct Call {
  const Problem& problem;
  const void* const* inputs;  // by operand; a packed operand points to the result of pack()
  void* output;               // results_of(problem) gives the place of each result in it
  void* scratch;              // scratch_bytes(), 64-byte aligned, shared by all parts; contents undefined
  const void* state;          // the result of prepare()
  std::atomic<Fault>* fault;  // set if operands' values cannot be used
  int parts = 1, part = 0, phase = 0;
  int thread = 0;  // of problem.threads; a thread's calls never overlap, so each thread may have its own scratch
  template <class T>
  const T* in(size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* out() const {
    return static_cast<T*>(output);
  }
};

// The row that runs any problem of an op that kernels compute, by the op's own compute().
const Kernel* fallback_of(std::string_view op);
// Returns all rows; those of an op's family stand together, in order of preference, its fallback last.
std::span<const Kernel* const> all_kernels();

}  // namespace rung::cpu
