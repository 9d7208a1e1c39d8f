// Names of the solutions that PyTorch's TunableOp chooses among.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rung::stacks {

// A parsed name such as "Default", "Gemm_Rocblas_-621294427", "Gemm_Hipblaslt_1234", "Gemm_Cublaslt_id_66_tile_..."; an
// empty library: none of these.
struct SolutionName {
  std::string_view library;  // "default", "rocblas", "hipblaslt", "cublaslt"
  std::optional<int64_t> index;
  bool has_layout = false;  // "Gemm_Hipblaslt_TN_1234", as PyTorch before 2.7 wrote
};
SolutionName parse_solution(std::string_view name);

// Settings of a cuBLASLt algorithm, in the names that TunableOp uses on NVIDIA.
struct CublasLtAlgorithm {
  int32_t id = 0;
  uint32_t tile = 0, stages = 0;
  int32_t split_k = 1;
  uint32_t reduction = 0, swizzle = 0, custom = 0;
  uint16_t inner_shape = 0, cluster_shape = 0;
  bool operator==(const CublasLtAlgorithm&) const = default;
};
std::string solution_name(const CublasLtAlgorithm& algorithm);
std::optional<CublasLtAlgorithm> cublaslt_algorithm_of(std::string_view name);

}  // namespace rung::stacks
