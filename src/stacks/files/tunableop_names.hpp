// Names that PyTorch's TunableOp makes up: of an operation with its types and layout, and of its sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stacks/files/gemm_shape.hpp"

namespace rung::stacks {

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

// "tn_1024_51_1024_ld_1024_1024_1024"; batched with "_B_16" before "_ld", scaled with more at the end, which differs
// between AMD ("_rw_1_bias_None") and NVIDIA. PyTorch before 2.7 wrote no leading dimensions. Nothing: a pattern of
// PyTorch 2.15, in which '*' stands for any size.
Result<std::optional<GemmShape>> parse_sizes(const OperationName& operation, std::string_view sizes);

// The key by which TunableOp looks a product up, on AMD where it has scaling: both names, with a comma between them.
// Errors: it has no such product.
Result<std::string> tunableop_key(const GemmShape& shape);

// "2.15.0+cu130" is 2 and 15; of what is no version, nothing.
struct PyTorchVersion {
  int64_t major = 0, minor = 0;
  auto operator<=>(const PyTorchVersion&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 on any <=>
};
std::optional<PyTorchVersion> pytorch_version_of(std::string_view text);
inline constexpr PyTorchVersion kLeadingDimensions{2, 7};  // since then, in sizes; no layout in hipBLASLt's solutions
inline constexpr PyTorchVersion kHipVersion{2, 9};         // the validator HIP_VERSION instead of ROCM_VERSION
inline constexpr PyTorchVersion kCublasLt{2, 14};  // solutions of cuBLASLt; a solution that is unknown is no error

}  // namespace rung::stacks
