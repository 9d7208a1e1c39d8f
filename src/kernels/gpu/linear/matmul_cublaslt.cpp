// matmul by cuBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/matmul_library.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = has_library(machine, "cublaslt", "cuBLASLt"); !verdict) return verdict;
  return library_matmul::supports(problem, machine);
}

}  // namespace

extern const Kernel matmul_cublaslt;
constexpr Kernel matmul_cublaslt = matmul_by_library("matmul_cublaslt", supports);

}  // namespace rung::gpu
