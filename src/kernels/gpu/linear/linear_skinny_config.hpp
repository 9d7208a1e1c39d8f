// What the skinny linear kernels are compiled for, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

// What a layer ends with, each in kernels of its own. Those without `any` are what counts most, in short code, of bf16
// alone: sums that feed a norm without bias, activation and factor, with an f32 residual; pairs without bias and
// residual, by angles in f32.
enum class SkinnyEpilogue : uint8_t { any, norm, norm_any, gated, gated_any, rotated, rotated_any };

// The type of x and w, rows of w of a tile, the blocks that share its K, and the epilogue.
struct SkinnyConfig {
  DType type;
  uint32_t rows, split;
  SkinnyEpilogue epilogue;
  bool operator==(const SkinnyConfig&) const = default;

  constexpr int64_t parameter() const { return rows * 10 + split; }  // the value of "tile"
};

}  // namespace rung::gpu
