// Looks for NaN and infinities, so that a bad weight or input is named before it spoils a result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"
#include "ir/tensor.hpp"

namespace rung {

struct NonFinite {
  int64_t nan = 0, infinity = 0;
};
// Both are zero for integer and bool tensors.
NonFinite count_non_finite(const Tensor& tensor);
// The error names `what` (such as "weight 'encoder.w'") and both counts.
Status check_finite(const std::string& what, const Tensor& tensor);

}  // namespace rung
