// Derives the category of a kernel and its library from its name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "trace/recording/recording.hpp"

namespace rung::trace {

enum class KernelCategory : uint8_t {
  gemm,
  attention,
  norm,
  elementwise,
  reduction,
  copy,
  collective,
  other,
  unclassified
};
inline constexpr std::array<std::string_view, 9> kKernelCategoryWords{
    "GEMM", "attention", "normalisation", "element-wise", "reduction", "copy", "collective", "other", "unclassified"};
constexpr std::string_view name_of(KernelCategory category) {
  return kKernelCategoryWords[static_cast<size_t>(category)];
}

struct KernelClass {
  KernelCategory category = KernelCategory::unclassified;
  std::string_view library;  // "cuBLAS", "rocBLAS (Tensile)", "Triton", "PyTorch", ...; empty: unknown
};

// Applies the ordered rules of kernel_rules.inc: the first that matches counts.
KernelClass classify_kernel(std::string_view name);

}  // namespace rung::trace
