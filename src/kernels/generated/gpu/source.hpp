// Source text of a kernel for one problem: an element-wise program, or a region with reductions along rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "device/gpu/gpu_info.hpp"
#include "kernels/problem.hpp"

namespace rung::gpu {

// Sizes, strides and literals are written into the text, so that the compiler knows them; the kernel takes addresses.
// kernels/gpu/vendor/generated.cuh has the names that it uses.
struct GeneratedSource {
  std::string text;
  uint32_t blocks = 1, threads = 1;
  uint32_t bytes_in_flight = 0;  // of operands, that one thread loads before it uses the first
};

// The one entry of the module, and the most operands that it takes; a result stands behind each other in `results`.
inline constexpr const char* kGeneratedEntry = "generated";
inline constexpr int kMaxGeneratedOperands = 8;
struct GeneratedArguments {
  uint64_t operand[kMaxGeneratedOperands];
  uint64_t result[8];
  uint64_t fault;  // Call::fault
};

// Returns the kernel of a unary, binary, cast, select, gated_mul, pointwise or region op. Errors: what it does not
// take.
Result<GeneratedSource> generate_source(const Problem& problem, const GpuInfo& gpu);

// Returns sources as one text, in which entry `i` is joined_entry(i).
std::string joined_source(std::span<const std::string> sources);
std::string joined_entry(size_t i);

}  // namespace rung::gpu
