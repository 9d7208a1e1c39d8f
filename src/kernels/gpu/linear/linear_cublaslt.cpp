// linear by cuBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_library.hpp"

namespace rung::gpu {
namespace {

// The library has no gated epilogue: the product of the halves takes a launch of its own, over twice the results.
std::string_view row_with_gate(const Problem& problem) {
  return problem.as<Linear>().epilogue.gated ? "linear_wide_sm90" : "";
}

constexpr Kernel row() {
  Kernel made = linear_by_library<kCublaslt>("linear_cublaslt");
  made.yields_to = row_with_gate;
  return made;
}

}  // namespace

extern const Kernel linear_cublaslt;
constexpr Kernel linear_cublaslt = row();

}  // namespace rung::gpu
