// Computes the number of blocks of a launch that a unit of a described GPU holds at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "device/gpu/described.hpp"

namespace rung {

struct Resident {
  double blocks = 1;
  std::string_view limit;  // "vector registers", "shared memory", "threads"
};

// Uses the code object's resources on AMD. On NVIDIA it uses the launch's shared memory, threads and block slots: it
// does not read registers of the kernels. Errors: a kernel that no unit holds.
Result<Resident> resident_blocks(const gpu::RecordedLaunch& launch, const gpu::GpuInfo& info);

}  // namespace rung
