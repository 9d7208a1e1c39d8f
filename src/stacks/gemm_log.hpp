// Matrix products out of what AMD's libraries log: their lines among whatever else the program printed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "stacks/gemm_list.hpp"

namespace rung::stacks {

// HIPBLASLT_LOG_MASK=32 and 64, ROCBLAS_LAYER=2 and 4, and aiter's lines about products without a tuned row. Of the
// beginning of a file: is such a line in it?
bool looks_like_gemm_log(std::string_view head);
// Lines that are none of theirs say nothing. A number before a line, as `uniq -c` writes it, counts it.
Result<GemmList> read_gemm_log(const std::string& path);

}  // namespace rung::stacks
