// Converts words of CUDA's profilers into the form of PyTorch's profiler.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rung::trace {

// Returns "cudaMemcpyAsync" for "cudaMemcpyAsync_ptsz_v7000": removes the version and the kind of default stream.
std::string_view call_name(std::string_view name);

// Returns "HtoD" for 1: translates CUPTI's numbers of directions. Empty: unknown.
std::string_view copy_word(int64_t direction);
// Returns "Pageable" for 0: translates Nsight Systems' numbers of memory kinds. Empty: unknown.
std::string_view memory_word(int64_t kind);
// Returns "Memcpy HtoD (Pageable -> Device)", or "Memcpy HtoD" if the kinds are unknown.
std::string copy_name(std::string_view direction, std::string_view from, std::string_view to);

}  // namespace rung::trace
