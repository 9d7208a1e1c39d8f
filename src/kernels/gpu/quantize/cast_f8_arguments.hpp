// The argument of the kernels that cast between floats and the machine's e4m3, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

constexpr uint32_t kCastF8Threads = 256;

// A variant of the kernel: the other type, and whether results or operands have 8 bits.
struct CastF8Config {
  DType other;
  bool to_f8;
  bool operator==(const CastF8Config&) const = default;
};

// A thread takes four neighbours; both addresses are multiples of 16.
struct CastF8Arguments {
  uint64_t x, out;  // addresses of dense elements
  int64_t count;
};

}  // namespace rung::gpu
