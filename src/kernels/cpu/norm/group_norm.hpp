// The arguments of the vectorised group norm, in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"

namespace rung::cpu {

// Whole groups of one element of the batch: `columns` neighbouring channels, at places of `channels` each.
struct GroupNormWork {
  DType type;                              // of x and out
  int64_t places, channels, columns, run;  // run: channels of a group
  float eps;
  const void* x;
  void* out;
  float* scratch;  // two numbers for each column
};

namespace avx2 {
void group_norm(const GroupNormWork& work);
}
namespace avx512 {
void group_norm(const GroupNormWork& work);
}

}  // namespace rung::cpu
