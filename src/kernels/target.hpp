// A target: the machine that plans are built for and the kernel rows that it offers, as plain data. Plan, tuner and
// ladder query it; a session runs the launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "kernels/device_word.hpp"
#include "kernels/kernel.hpp"

namespace rung {

namespace gpu {
class Gpu;
}

struct Target {
  std::string kind;         // "cpu", "cuda", "hip", "emu:gfx942"
  std::string name;         // with its number: "cpu", "cuda:0", "hip:0", "emu:gfx942"
  int index = 0;            // among the devices of its kind
  std::string fingerprint;  // of the device; a plan does not load on another device
  Machine machine;
  int64_t row_bytes = 1;  // reads are fastest from rows of values that begin at its multiples; 1: it does not matter
  std::span<const Kernel* const> kernels;  // all rows; those of one op in order of preference
  std::shared_ptr<gpu::Gpu> gpu;           // the GPU that runs them; null: the processor does

  // Returns the rows of an op's family, in order of preference.
  std::span<const Kernel* const> kernels_for(std::string_view family) const;
  const Kernel* kernel_named(std::string_view name) const;  // null if there is none
  // Returns the first row of a family in this role; null if there is none.
  const Kernel* row_of(std::string_view family, Role role) const;
  // Returns the row of a family that calls a GEMM library, on a GPU the machine's preferred library. Null: none does.
  const Kernel* library_row(std::string_view family) const;
  // Returns whether the row runs the problem and, where its code is compiled for each problem, a compiler is here.
  Verdict supports(const Kernel& kernel, const Problem& problem) const;
  DeviceWord word() const { return {name, kind, index}; }
};

// Returns the target of this process's processor.
const Target& cpu_target();
// Opens a device once; it lives until the process ends. Errors: RUNG_CPU_ISA names no level (usage); no driver, no such
// device, a build without GPU kernels, an architecture for which they were not compiled, a process that was forked
// after a GPU was opened.
Result<const Target*> open_target(const DeviceWord& word);

}  // namespace rung
