// The causes of a launch without a right result: kernels write them into their call's fault flag, on host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

enum class Fault : uint32_t {
  none = 0,
  index_out_of_range = 1,  // in a gather
  integer_divided_by_zero = 2,
  no_token_to_draw = 3,       // by sample
  kernel_threw = UINT32_MAX,  // no memory, or its library failed; only in kernels of a processor
};

}  // namespace rung
