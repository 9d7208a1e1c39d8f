// Describes a matrix in memory for the copy engine of a Hopper GPU; host and device share it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

// The driver's own words, made by Runtime::tensor_map and passed to kernels by value.
struct alignas(64) TensorMap {
  uint64_t words[16];
};

// A matrix of 16-bit elements, and the boxes that kernels copy out of it: `box_rows` rows of kBoxColumns elements, each
// row 128 bytes of shared memory whose 16-byte unit u lies at u ^ (row % 8). Elements outside the matrix arrive as 0.
inline constexpr uint32_t kBoxColumns = 64;
struct BoxedMatrix {
  uint64_t address;  // a multiple of 16, as is pitch_bytes
  uint64_t rows, columns, pitch_bytes;
  uint32_t box_rows;  // at most 256
};

}  // namespace rung::gpu
