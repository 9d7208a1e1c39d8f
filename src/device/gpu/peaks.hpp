// Measures peaks of this GPU, from which floors are computed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/gpu.hpp"

namespace rung::gpu {

struct GpuPeaks {
  double gemm_bf16_gflops = 0, gemm_f32_gflops = 0;  // the library's best on a large square product; 0 without it
  double read_gbps = 0;                              // for a large copy, counting bytes read and bytes written
};

// Takes about 0.2 s and 1.5 GB of device memory. Without the library it measures the copy alone, and on an emulator
// nothing: all are 0. Errors: the device failed or has too little free memory.
Result<GpuPeaks> measure_peaks(Gpu& gpu, const GemmLibrary* library);

}  // namespace rung::gpu
