// The machine that this process may run on, as far as kernel rows ask: the processor, and the GPU if one was opened.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/cpu/cpu_info.hpp"
#include "device/gpu/gpu_info.hpp"

namespace rung {

struct Machine : cpu::CpuInfo {
  // Implicit, as a processor alone is a machine too.
  Machine(const cpu::CpuInfo& cpu) : cpu::CpuInfo(cpu) {}  // NOLINT(google-explicit-constructor)
  Machine(const cpu::CpuInfo& cpu, const gpu::GpuInfo& card) : cpu::CpuInfo(cpu), gpu(card) {}
  gpu::GpuInfo gpu;  // the default if there is none
};

}  // namespace rung
