// Reads matrix products from logs of AMD's libraries: their lines may stand among any other output of the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "stacks/gemm_list.hpp"

namespace rung::stacks {

// Returns whether the beginning of a file contains a line of HIPBLASLT_LOG_MASK=32 or 64, of ROCBLAS_LAYER=2 or 4, or
// of aiter about a product without a tuned row.
bool looks_like_gemm_log(std::string_view head);
// Skips all other lines. A number before a line, as `uniq -c` writes it, is its count.
Result<GemmList> read_gemm_log(const std::string& path);

}  // namespace rung::stacks
