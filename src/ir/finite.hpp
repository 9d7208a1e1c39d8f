// Looks for NaN and infinities, so that a bad weight or input is named before it spoils a result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "base/status.hpp"
#include "ir/tensor.hpp"

namespace rung {

struct NonFinite {
  int64_t nan = 0, infinity = 0, minus_infinity = 0;  // infinity: of either sign
};
// All are zero for integer and bool tensors. `values`: type.bytes() of them, at any address.
NonFinite count_non_finite(const Type& type, const std::byte* values);
NonFinite count_non_finite(const Tensor& tensor);
// The error names `what` (such as "weight 'encoder.w'") and both counts.
Status check_finite(const std::string& what, const Tensor& tensor);
// The same for what a run is given: -inf is taken where `masks` says so, which is asked only then; NaN and +inf never.
Status check_input_floats(const std::string& what, const Tensor& tensor, const std::function<bool()>& masks);
// Its two parts, the first of which takes no memory: may that be in an input, and the error if not.
bool may_be_in_input(const NonFinite& found, const std::function<bool()>& masks);
tl::unexpected<Error> refuse_input_floats(const std::string& what, const Type& type, const NonFinite& found,
                                          const std::function<bool()>& masks);

}  // namespace rung
