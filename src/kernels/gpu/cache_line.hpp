// The unit in which a GPU moves its memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

inline constexpr int64_t kCacheLine = 128;  // bytes; reads are fastest from rows that begin at its multiples

}  // namespace rung::gpu
