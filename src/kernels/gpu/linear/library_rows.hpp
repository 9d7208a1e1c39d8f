// Helpers of the rows of the vendors' GEMM libraries. Such a row's name ends with its library's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <numeric>

#include <algorithm>

#include "device/gpu/gemm_library.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

using Prepared = Result<std::shared_ptr<PreparedGemm>>;

// The traits of a library that rows know before they ask it.
struct LibraryTraits {
  std::string_view name;     // GemmLibrary::name
  std::string_view written;  // as people write it
  bool epilogues;            // adds a bias, computes ReLU and tanh-GELU
  bool any_rows;             // takes rows of any length, not only of multiples of 16 bytes
};
inline constexpr LibraryTraits kCublaslt{"cublaslt", "cuBLASLt", true, true};
inline constexpr LibraryTraits kHipblaslt{"hipblaslt", "hipBLASLt", true, false};
inline constexpr LibraryTraits kRocblas{"rocblas", "rocBLAS", false, true};

// Returns the library; null: this machine does not have it.
inline const GemmLibrary* find_library(const Machine& machine, const LibraryTraits& library) {
  const auto& here = machine.gpu.gemm_libraries;
  const auto found = std::ranges::find_if(here, [&](const GemmLibrary* each) { return each->name == library.name; });
  return found == here.end() ? nullptr : *found;
}

inline Verdict has_library(const Machine& machine, const LibraryTraits& library) {
  if (find_library(machine, library)) return accept();
  return reject(fmt::format("{} is not here", library.written));
}

// Prepares the state that a step keeps; it is called only if supports() has found the library.
inline std::shared_ptr<void> prepare_gemm(const Machine& machine, const LibraryTraits& library,
                                          const LibraryGemm& gemm) {
  return std::make_shared<Prepared>(find_library(machine, library)->prepare(gemm));
}

// Returns the tunable "algorithm": the library's algorithms for a product, its own choice first; none if the library
// has no such product. A plan pins an algorithm by its number; loading the plan checks that the library still has it.
inline std::vector<Tunable> algorithms_of(const Machine& machine, const LibraryTraits& traits,
                                          const LibraryGemm& gemm) {
  const GemmLibrary* library = find_library(machine, traits);
  if (!library) return {};
  std::vector<int64_t> numbers(kLibraryAlgorithms);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (library->algorithms) {
    auto offered = library->algorithms(gemm);
    if (!offered || offered->empty()) return {};
    numbers = *offered;
  }
  return {{"algorithm", numbers, kTriedAlgorithms}};
}

}  // namespace rung::gpu
