// The MODE register: how a wave rounds, and how it treats denormals and NaNs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::amdgpu {

// A kernel's descriptor sets the low ten bits: rounding and denormals of f32, and of f16 and f64.
struct Mode {
  static constexpr uint32_t kRound32 = 0x3, kRound16And64 = 0xc, kDenormals32 = 0x30, kDenormals16And64 = 0xc0;
  static constexpr uint32_t kDx10Clamp = 0x100, kIeee = 0x200;
  static constexpr uint32_t kIndexed = 0x8000000;  // M0 moves vector registers: alu/indexed.cpp
  // The mode that compilers ask for: nearest even, denormals kept, clamp turns NaN into 0, signalling NaNs by IEEE.
  static constexpr uint32_t kUsual = kDenormals32 | kDenormals16And64 | kDx10Clamp | kIeee;
};

}  // namespace rung::amdgpu
