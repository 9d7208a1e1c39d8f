// The machine that rows for CDNA need.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstdint>

#include "base/verdict.hpp"
#include "device/gpu/gpu_info.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {

inline constexpr uint32_t kCdnaLanes = 64;

inline Verdict supports_cdna(const GpuInfo& gpu) {
  if (vendor_of(gpu.architecture) == Vendor::amd && gpu.lanes == static_cast<int>(kCdnaLanes)) return accept();
  return reject("made for CDNA");
}
// Returns the dies (XCDs), each with its own L2, that take a launch's blocks in turns. Source: AMD's CDNA 3 and 4 white
// papers.
inline uint32_t dies_of(const GpuInfo& gpu) { return gpu.architecture >= 0x942 ? 8 : 1; }

}  // namespace rung::gpu
