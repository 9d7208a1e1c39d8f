// The 8-bit floats that a machine's instructions and portable.cuh's functions know.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/gpu_info.hpp"
#include "ir/dtype.hpp"

namespace rung::gpu {

// Returns the format of the machine's e4m3, as kFnuz says on the device: CDNA 3 has its own.
inline DType machine_f8(const GpuInfo& gpu) { return gpu.architecture == 0x942 ? DType::f8e4m3fnuz : DType::f8e4m3fn; }

}  // namespace rung::gpu
