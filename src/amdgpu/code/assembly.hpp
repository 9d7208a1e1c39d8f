// Reads kernels from an assembler's text, as clang -S, Triton and llvm-objdump -d write it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "amdgpu/code/code_object.hpp"
#include "amdgpu/isa/listing.hpp"

namespace rung::amdgpu {

struct AssemblyKernel {
  KernelInfo info;  // entry, descriptor words and arguments are not filled
  Listing listing;
  // True: registers, LDS and scratch are the compiler's words. False, as in llvm-objdump's text: registers are those
  // that the code names, LDS and scratch are not known, and a group is taken for `kUnknownThreads`.
  bool described = false;
};
inline constexpr uint32_t kUnknownThreads = 256;

// `isa` holds for text that does not name its own. Errors (ErrorKind::file): no kernel, a missing or unknown
// architecture, words that are no numbers; each names its line.
Result<std::vector<AssemblyKernel>> read_assembly(std::string_view text, std::optional<Isa> isa);

}  // namespace rung::amdgpu
