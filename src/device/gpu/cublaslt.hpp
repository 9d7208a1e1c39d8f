// NVIDIA's GEMM library, cuBLASLt, opened at run time. Names and numbers are those of its API reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

#include "device/gpu/gemm_library.hpp"

namespace rung::gpu {

// A parameter of an algorithm: its word in PyTorch's files, its number and its size in bytes in the library.
struct CublasltParameter {
  std::string_view word;
  int attribute;
  size_t bytes;
};
inline constexpr auto kCublasltParameters = std::to_array<CublasltParameter>({{"id", 0, 4},
                                                                              {"tile", 1, 4},
                                                                              {"stages", 6, 4},
                                                                              {"splitk", 2, 4},
                                                                              {"red", 3, 4},
                                                                              {"swizzle", 4, 4},
                                                                              {"custom", 5, 4},
                                                                              {"inner", 7, 2},
                                                                              {"cluster", 8, 2}});

// Errors: no library, or a function missing in it.
Result<const GemmLibrary*> cublaslt();

}  // namespace rung::gpu
