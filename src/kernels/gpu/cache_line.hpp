// The unit in which a GPU's memory moves.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

inline constexpr int64_t kCacheLine = 128;  // bytes; rows that begin at multiples of it are read fastest

}  // namespace rung::gpu
