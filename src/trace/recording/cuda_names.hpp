// Words of CUDA's profilers in the form that PyTorch's profiler gives them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rung::trace {

// "cudaMemcpyAsync" of "cudaMemcpyAsync_ptsz_v7000": without the version and the kind of default stream.
std::string_view call_name(std::string_view name);

// "HtoD" of 1: CUPTI's numbers of directions. Empty: not known.
std::string_view copy_word(int64_t direction);
// "Pageable" of 0: Nsight Systems' numbers of kinds of memory. Empty: not known.
std::string_view memory_word(int64_t kind);
// "Memcpy HtoD (Pageable -> Device)", and "Memcpy HtoD" where the kinds are not known.
std::string copy_name(std::string_view direction, std::string_view from, std::string_view to);

}  // namespace rung::trace
