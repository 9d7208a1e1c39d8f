// NVIDIA's GEMM library, cuBLASLt, opened at run time. Names and numbers are those of its API reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/gemm_library.hpp"

namespace rung::gpu {

// Errors: no library, or one that lacks a function.
Result<const GemmLibrary*> cublaslt();

}  // namespace rung::gpu
