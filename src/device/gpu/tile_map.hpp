// Describes a tensor from which blocks copy whole boxes to shared memory, for hardware that does so by itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

// Axes begin with the innermost; elements have 16 bits. Rows of the box are 128 bytes; the hardware exchanges their
// chunks of 16 bytes so that eight rows meet no bank twice. Elements of a box beyond the tensor become zero.
struct TileShape {
  static constexpr int kRank = 5;
  uint64_t address;            // a multiple of 16
  uint64_t size[kRank];        // elements
  uint64_t stride[kRank - 1];  // bytes, for all axes but the innermost; multiples of 16, not 0
  uint32_t box[kRank];         // elements; the innermost has 64
};

// A TileShape in the form that the hardware reads, in a kernel's arguments.
struct alignas(64) TileMap {
  uint64_t words[16];
};

}  // namespace rung::gpu
