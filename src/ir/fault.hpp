// Why a launch has no right result: kernels write it into their call's fault flag, on host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

enum class Fault : uint32_t {
  none = 0,
  index_out_of_range = 1,  // a gather's
  integer_divided_by_zero = 2,
  kernel_threw = UINT32_MAX,  // no memory, or its library failed; rows of a processor alone
};

}  // namespace rung
