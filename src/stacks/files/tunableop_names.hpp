// Names that PyTorch's TunableOp generates: for an operation with its types and layout, and for its sizes.
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

// A parsed name such as "GemmTunableOp_BFloat16_TN", "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN".
struct OperationName {
  TunableOp op = TunableOp::gemm;
  ElementType w = ElementType::bf16, x = ElementType::bf16, out = ElementType::bf16;
  GemmLayout layout = GemmLayout::tn;
};
Result<OperationName> parse_operation(std::string_view name);

// Reads "tn_1024_51_1024_ld_1024_1024_1024"; batched sizes have "_B_16" before "_ld", scaled ones an ending that
// differs between AMD ("_rw_1_bias_None") and NVIDIA. PyTorch before 2.7 wrote no leading dimensions. Returns nothing
// for a pattern of PyTorch 2.15, in which '*' matches any size.
Result<std::optional<GemmShape>> parse_sizes(const OperationName& operation, std::string_view sizes);

// Returns the key by which TunableOp looks a product up, with scaling on AMD only: both names, with a comma between
// them. Errors: TunableOp has no such product.
Result<std::string> tunableop_key(const GemmShape& shape);

// Parses "2.15.0+cu130" as 2 and 15; returns nothing for text that is no version.
struct PyTorchVersion {
  int64_t major = 0, minor = 0;
  auto operator<=>(const PyTorchVersion&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 on any <=>
};
std::optional<PyTorchVersion> pytorch_version_of(std::string_view text);
inline constexpr PyTorchVersion kLeadingDimensions{2, 7};  // since then in sizes; hipBLASLt solutions have no layout
inline constexpr PyTorchVersion kHipVersion{2, 9};         // the validator HIP_VERSION replaces ROCM_VERSION
inline constexpr PyTorchVersion kCublasLt{2, 14};          // has cuBLASLt solutions; an unknown solution is no error

}  // namespace rung::stacks
