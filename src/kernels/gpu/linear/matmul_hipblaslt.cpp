// matmul by hipBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/matmul_library.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = has_library(machine, "hipblaslt", "hipBLASLt"); !verdict) return verdict;
  return library_matmul::supports(problem, machine);
}

}  // namespace

extern const Kernel matmul_hipblaslt;
constexpr Kernel matmul_hipblaslt = matmul_by_library("matmul_hipblaslt", supports);

}  // namespace rung::gpu
