// linear by cuBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_library.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = has_library(machine, "cublaslt", "cuBLASLt"); !verdict) return verdict;
  return library_linear::supports(problem, machine);
}

}  // namespace

extern const Kernel linear_cublaslt;
constexpr Kernel linear_cublaslt = linear_by_library("linear_cublaslt", supports);

}  // namespace rung::gpu
