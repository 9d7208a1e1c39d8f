// linear by hipBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_library.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = has_library(machine, "hipblaslt", "hipBLASLt"); !verdict) return verdict;
  return library_linear::supports(problem, machine);
}

}  // namespace

extern const Kernel linear_hipblaslt;
constexpr Kernel linear_hipblaslt = linear_by_library("linear_hipblaslt", supports);

}  // namespace rung::gpu
