// Linear layers by the vendor's GEMM library: the code that the rows of cuBLASLt, hipBLASLt and rocBLAS share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/library_rows.hpp"

namespace rung::gpu {

namespace library_linear {
Verdict supports(const Problem& problem, const Machine& machine, const LibraryTraits& library);
size_t scratch_bytes(const Problem& problem, const Machine& machine);
size_t packed_bytes(const Problem& problem, const Machine& machine, size_t i);
void pack(const Problem& problem, const Machine& machine, size_t i, const void* from, void* to);
LibraryGemm gemm_of(const Problem& problem);  // for a problem that supports() accepts
Status enqueue(const Call& call);
}  // namespace library_linear

// The row "linear_LIBRARY".
template <const LibraryTraits& library>
constexpr Kernel linear_by_library(std::string_view name) {
  return {.name = name,
          .op = "linear",
          .supports = [](const Problem& problem,
                         const Machine& machine) { return library_linear::supports(problem, machine, library); },
          .scratch_bytes = library_linear::scratch_bytes,
          .packed_bytes = library_linear::packed_bytes,
          .pack = library_linear::pack,
          .prepare =
              [](const Problem& problem, const Machine& machine) {
                return prepare_gemm(machine, library, library_linear::gemm_of(problem));
              },
          .tunables =
              [](const Problem& problem, const Machine& machine) {
                return algorithms_of(machine, library, library_linear::gemm_of(problem));
              },
          .alignment = 16,
          .enqueue = library_linear::enqueue,
          .role = Role::library,
          .library = library.name};
}

}  // namespace rung::gpu
