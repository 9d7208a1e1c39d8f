// The arguments of the kernel gated_rows, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/op_kinds.hpp"

namespace rung::gpu {

// out[m,n] = activation(halves[m, 0:n]) * halves[m, n:2n] + residual[m,n]; all have one type.
struct GatedRowsArguments {
  const void* halves;    // [rows, 2 columns], dense
  const void* residual;  // [rows, columns] with residual_stride elements between rows; null: none
  void* out;             // [rows, columns], dense
  int64_t rows, columns, residual_stride;
  Activation activation;
  int32_t type;  // 0 f32, 1 bf16, 2 f16
};

}  // namespace rung::gpu
