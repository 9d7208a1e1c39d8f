// What all rows of a vendor's GEMM library share. The name of such a row ends with that of its library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/gemm_library.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

using Prepared = Result<std::shared_ptr<PreparedGemm>>;

// Is the library `name`, as people write it, this machine's?
inline Verdict has_library(const Machine& machine, std::string_view name, std::string_view written) {
  if (const GemmLibrary* library = machine.gpu.gemm_library; library && library->name == name) return accept();
  return reject(fmt::format("{} is not here", written));
}

// The tunable "algorithm": the library's for a product, its own choice first. A plan pins one by its number, and is
// asked again when it is loaded whether there still is such a one. None where the library has no such product.
inline std::vector<Tunable> algorithms_of(const Machine& machine, const LibraryGemm& gemm) {
  const GemmLibrary* library = machine.gpu.gemm_library;
  if (!library) return {};
  Tunable algorithm{"algorithm", {}};
  if (library->algorithms) {
    auto offered = library->algorithms(gemm);
    if (!offered || offered->empty()) return {};
    algorithm.values = *offered;
  } else {
    for (int64_t i = 0; i < kLibraryAlgorithms; ++i) algorithm.values.push_back(i);
  }
  return {algorithm};
}

}  // namespace rung::gpu
