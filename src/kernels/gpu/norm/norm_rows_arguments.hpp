// The arguments of the kernels norm_rows, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

constexpr int kNormRowsPerThread = 8;  // neighbouring columns of a thread
constexpr int kNormRowsMostThreads = 512;

enum class NormRowsKind : uint8_t { rms, layer };

// A variant of the kernel.
struct NormRowsConfig {
  NormRowsKind kind;
  DType x, weight, out;  // weight: of weight and bias; out: f8e4m3fn stands for 8 bits, the machine's e4m3 or i8
  bool operator==(const NormRowsConfig&) const = default;
};

// One block takes a row, and keeps all its values in registers.
//   rms:   out = x * rsqrt(mean(x^2) + eps) * (weight_offset + weight)
//   layer: out = (x - mean) * rsqrt(variance + eps) * weight + bias
struct NormRowsArguments {
  const void* x;       // [rows, width], dense, 16-byte aligned
  const void* weight;  // [width], constant
  const void* bias;    // [width], constant; layer norm only
  void* out;           // [rows, width], dense
  int32_t width;       // a multiple of 8
  float eps, weight_offset;
  bool to_i8;  // where the result has 8 bits
};

}  // namespace rung::gpu
