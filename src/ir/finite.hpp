// Looks for NaN and infinities, so that a bad weight or input is named before it spoils a result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "base/status.hpp"
#include "ir/tensor.hpp"

namespace rung {

struct NonFinite {
  int64_t nan = 0, infinity = 0, minus_infinity = 0;  // infinity counts both signs
};
// Counts values; all counts are zero for integer and bool tensors. `values`: type.bytes() of them, at any address.
NonFinite count_non_finite(const Type& type, const std::byte* values);
NonFinite count_non_finite(const Tensor& tensor);
// Checks that a tensor has none. The error names `what` (such as "weight 'encoder.w'") and both counts.
Status check_finite(const std::string& what, const Tensor& tensor);
// A run's input may hold beside numbers: nothing, -inf where it is a mask, or anything where elements are only
// moved, converted or compared.
enum class Tolerates : uint8_t { numbers, minus_infinity, all };
// Checks a run's input; `tolerates` is called only where it holds something beside numbers.
Status check_input_floats(const std::string& what, const Tensor& tensor, const std::function<Tolerates()>& tolerates);
// The two parts of check_input_floats(), the first of which takes no memory: whether an input may have it; the error.
bool may_be_in_input(const NonFinite& found, const std::function<Tolerates()>& tolerates);
tl::unexpected<Error> refuse_input_floats(const std::string& what, const Type& type, const NonFinite& found,
                                          const std::function<Tolerates()>& tolerates);

}  // namespace rung
