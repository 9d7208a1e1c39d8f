// Kernels in an assembler's text: what clang -S and Triton write, and what llvm-objdump -d does.
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
  // Registers, LDS and scratch are the compiler's words. Else, as in llvm-objdump's text: registers are those that the
  // code names, LDS and scratch are not known, and a group is taken for `kUnknownThreads`.
  bool described = false;
};
inline constexpr uint32_t kUnknownThreads = 256;

// `target`: of text that does not name its own. Errors (ErrorKind::file): no kernel, no architecture or one that is not
// known, numbers that are none; each names its line.
Result<std::vector<AssemblyKernel>> read_assembly(std::string_view text, std::optional<Target> target);

}  // namespace rung::amdgpu
