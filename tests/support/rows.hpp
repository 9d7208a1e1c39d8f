// Rows of a batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "ir/tensor.hpp"

namespace rung {

// One row, as a batch of its own.
inline Tensor row_of(const Tensor& batch, int64_t row) {
  Shape shape = batch.shape();
  shape[0] = 1;
  Tensor one({batch.dtype(), shape});
  std::copy_n(batch.data() + static_cast<size_t>(row) * one.bytes(), one.bytes(), one.data());
  return one;
}

}  // namespace rung
