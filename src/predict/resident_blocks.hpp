// How many blocks of a launch a unit of a described GPU holds at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "device/gpu/described.hpp"

namespace rung {

struct Resident {
  double blocks = 1;
  std::string_view limit;  // "vector registers", "shared memory", "threads"
};

// On AMD by what the code object takes. On NVIDIA by shared memory of the launch, threads and slots: registers of its
// kernels are not read. Errors: a kernel that no unit holds.
Result<Resident> resident_blocks(const gpu::RecordedLaunch& launch, const gpu::GpuInfo& info);

}  // namespace rung
