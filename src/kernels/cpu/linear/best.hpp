// The f32 micro-kernels of the best instruction set of this processor, for rows that are not tied to one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/cpu/cpu_info.hpp"
#include "kernels/cpu/linear/micro.hpp"

namespace rung::cpu::gemm {

// Takes the processor, not a Machine: kernels call this in every replay, and making a Machine would copy its name.
inline const MicroKernels* best_f32(const CpuInfo& cpu) {
  if (cpu.avx512) return &kAvx512F32x32;
  return cpu.avx2 ? &kAvx2F32x24 : nullptr;
}

}  // namespace rung::cpu::gemm
