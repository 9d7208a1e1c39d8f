// The arguments of the copy of several ranges, on host and device alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

struct CopiedRange {
  uint64_t from, to, bytes;
  uint64_t unit;  // bytes of what a thread moves, 1, 2, 4, 8 or 16: the others are multiples of it
};

inline constexpr uint32_t kCopiedRanges = 16;  // in one launch, at most
struct CopyRangesArguments {
  CopiedRange ranges[kCopiedRanges];
};

// A block copies one piece of the range with its number in y, the piece with its number in x: four of the widest units
// for each thread.
inline constexpr uint32_t kCopyRangesThreads = 128;
inline constexpr uint32_t kCopiedPiece = kCopyRangesThreads * 4 * 16;  // bytes

}  // namespace rung::gpu
