// Names that PyTorch's TunableOp makes up: of an operation with its types and layout, of its sizes, and of solutions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "advise/tuned/gemm_shape.hpp"

namespace rung::advise::tuned {

enum class TunableOp : uint8_t { gemm, bias, batched, scaled };
inline constexpr std::array<std::string_view, 4> kTunableOpWords{"GemmTunableOp", "GemmAndBiasTunableOp",
                                                                 "GemmStridedBatchedTunableOp", "ScaledGemmTunableOp"};

// "GemmTunableOp_BFloat16_TN", "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN".
struct OperationName {
  TunableOp op = TunableOp::gemm;
  ElementType w = ElementType::bf16, x = ElementType::bf16, out = ElementType::bf16;
  GemmLayout layout = GemmLayout::tn;
};
Result<OperationName> parse_operation(std::string_view name);

// "tn_1024_51_1024_ld_1024_1024_1024", batched with "_B_16" before "_ld", scaled with "_rw_1_bias_None" at the end.
// PyTorch before 2.5 wrote no leading dimensions.
Result<GemmShape> parse_sizes(const OperationName& operation, std::string_view sizes);

// What TunableOp looks a product up by: both names, with a comma between them. Errors: it has no such product.
Result<std::string> tunableop_key(const GemmShape& shape);

// "Default", "Gemm_Rocblas_-621294427", "Gemm_Hipblaslt_1234", and from PyTorch 2.14 on "Gemm_Cublaslt_id_66_tile_20_..."
// with all parameters; no library: none of these.
struct SolutionName {
  std::string_view library;  // "default", "rocblas", "hipblaslt", "cublaslt"
  std::optional<int64_t> index;
  bool old = false;  // "Gemm_Hipblaslt_TN_1234", as PyTorch before 2.6 wrote
};
SolutionName parse_solution(std::string_view name);

}  // namespace rung::advise::tuned
