// The arguments of the copy of several ranges, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

struct CopiedRange {
  uint64_t from, to, bytes;
  uint64_t unit;  // bytes that a thread moves, 1, 2, 4, 8 or 16; the other fields are multiples of it
};

inline constexpr uint32_t kCopiedRanges = 16;  // the most ranges of a launch
struct CopyRangesArguments {
  CopiedRange ranges[kCopiedRanges];
};

// Block (x, y) copies piece x of range y; a piece has four of the widest units for each thread.
inline constexpr uint32_t kCopyRangesThreads = 128;
inline constexpr uint32_t kCopiedPiece = kCopyRangesThreads * 4 * 16;  // bytes

}  // namespace rung::gpu
