// Products of matrices by the vendor's GEMM library: what the rows of cuBLASLt and hipBLASLt share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/library_rows.hpp"

namespace rung::gpu {

namespace library_matmul {
LibraryGemm gemm_of(const Problem& problem);  // of one that supports() accepts
Verdict supports(const Problem& problem, const Machine& machine);
size_t scratch_bytes(const Problem& problem, const Machine& machine);
std::shared_ptr<void> prepare(const Problem& problem, const Machine& machine);
std::vector<Tunable> tunables(const Problem& problem, const Machine& machine);
Status enqueue(const Call& call);
}  // namespace library_matmul

// The row "matmul_LIBRARY"; `supports_here` asks for that library first.
constexpr Kernel matmul_by_library(std::string_view name, Verdict (*supports_here)(const Problem&, const Machine&)) {
  return {.name = name,
          .op = "matmul",
          .supports = supports_here,
          .scratch_bytes = library_matmul::scratch_bytes,
          .prepare = library_matmul::prepare,
          .tunables = library_matmul::tunables,
          .alignment = 16,
          .enqueue = library_matmul::enqueue,
          .role = Role::library};
}

}  // namespace rung::gpu
