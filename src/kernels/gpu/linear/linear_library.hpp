// Linear layers by the vendor's GEMM library: what the rows of cuBLASLt and hipBLASLt share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/library_rows.hpp"

namespace rung::gpu {

namespace library_linear {
LibraryGemm gemm_of(const Problem& problem);  // of one that supports() accepts
Verdict supports(const Problem& problem, const Machine& machine);
size_t scratch_bytes(const Problem& problem, const Machine& machine);
size_t packed_bytes(const Problem& problem, const Machine& machine, size_t i);
void pack(const Problem& problem, const Machine& machine, size_t i, const void* from, void* to);
std::shared_ptr<void> prepare(const Problem& problem, const Machine& machine);
std::vector<Tunable> tunables(const Problem& problem, const Machine& machine);
Status enqueue(const Call& call);
}  // namespace library_linear

// The row "linear_LIBRARY"; `supports_here` asks for that library first.
constexpr Kernel linear_by_library(std::string_view name, Verdict (*supports_here)(const Problem&, const Machine&)) {
  return {.name = name,
          .op = "linear",
          .supports = supports_here,
          .scratch_bytes = library_linear::scratch_bytes,
          .packed_bytes = library_linear::packed_bytes,
          .pack = library_linear::pack,
          .prepare = library_linear::prepare,
          .tunables = library_linear::tunables,
          .alignment = 16,
          .enqueue = library_linear::enqueue,
          .role = Role::library};
}

}  // namespace rung::gpu
