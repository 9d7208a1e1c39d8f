// Measured peaks of this GPU: floors are computed from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/gpu.hpp"

namespace rung::gpu {

struct GpuPeaks {
  double gemm_bf16_gflops = 0, gemm_f32_gflops = 0;  // the library's best on a large square product; 0 without one
  double read_gbps = 0;                              // a large copy, bytes read and bytes written counted
};

// Takes about 0.2 s and 1.5 GB of device memory; without the library it measures the copy alone,
// and of an emulator nothing: all are 0. Errors: the device
// failed or has not that much free.
Result<GpuPeaks> measure_peaks(Gpu& gpu, const GemmLibrary* library);

}  // namespace rung::gpu
