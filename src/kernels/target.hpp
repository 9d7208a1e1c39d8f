// A target: the machine that plans are built for and the kernel rows that it offers, as plain data. Plan, tuner and
// ladder ask it; what runs launches is the session's business.
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
  std::string fingerprint;  // of the device: a plan refuses to load on another
  Machine machine;
  int64_t row_bytes = 1;  // rows of values that begin at multiples of it are read fastest; 1: no matter
  std::span<const Kernel* const> kernels;  // all rows; those of one op in order of preference
  std::shared_ptr<gpu::Gpu> gpu;           // what runs them; null: the processor

  // The rows of an op's family, in order of preference.
  std::span<const Kernel* const> kernels_for(std::string_view family) const;
  const Kernel* kernel_named(std::string_view name) const;  // null if there is none
  // The first row of a family in this role; null where there is none.
  const Kernel* row_of(std::string_view family, Role role) const;
  // The row of a family that calls a GEMM library, on a GPU the machine's preferred one. Null: there is none.
  const Kernel* library_row(std::string_view family) const;
  Verdict supports(const Kernel& kernel, const Problem& problem) const { return kernel.supports(problem, machine); }
  DeviceWord word() const { return {name, kind, index}; }
};

// This process's processor.
const Target& cpu_target();
// Opened once, alive until the process ends. Errors: no driver, no such device, a build without GPU kernels or an
// architecture that they were not compiled for, a process that was forked after a GPU was opened.
Result<const Target*> open_target(const DeviceWord& word);

}  // namespace rung
