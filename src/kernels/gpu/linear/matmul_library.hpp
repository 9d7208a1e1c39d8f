// Products of matrices by the vendor's GEMM library: the code that the rows of cuBLASLt, hipBLASLt and rocBLAS share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/library_rows.hpp"

namespace rung::gpu {

namespace library_matmul {
Verdict supports(const Problem& problem, const Machine& machine, const LibraryTraits& library);
size_t scratch_bytes(const Problem& problem, const Machine& machine);
LibraryGemm gemm_of(const Problem& problem);  // for a problem that supports() accepts
Status enqueue(const Call& call);
}  // namespace library_matmul

// The row "matmul_LIBRARY".
template <const LibraryTraits& library>
constexpr Kernel matmul_by_library(std::string_view name) {
  return {.name = name,
          .op = "matmul",
          .supports = [](const Problem& problem,
                         const Machine& machine) { return library_matmul::supports(problem, machine, library); },
          .scratch_bytes = library_matmul::scratch_bytes,
          .prepare =
              [](const Problem& problem, const Machine& machine) {
                return prepare_gemm(machine, library, library_matmul::gemm_of(problem));
              },
          .tunables =
              [](const Problem& problem, const Machine& machine) {
                return algorithms_of(machine, library, library_matmul::gemm_of(problem));
              },
          .alignment = 16,
          .enqueue = library_matmul::enqueue,
          .role = Role::library,
          .library = library.name};
}

}  // namespace rung::gpu
