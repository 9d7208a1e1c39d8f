// The configuration of AMX's tile registers that all kernels use: eight tiles, each of 16 rows of 64 bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::RUNG_ISA {

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The configuration is static, because the intrinsic tells the compiler only of the first bytes of its operand.
constinit const TileConfig kConfig;
static void enter() { _tile_loadconfig(&kConfig); }
static void leave() { _tile_release(); }

}  // namespace rung::cpu::RUNG_ISA
