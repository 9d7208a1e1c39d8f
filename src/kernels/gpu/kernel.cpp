// The table of all GPU kernels, made from the rows of kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

#define RUNG_GPU_KERNEL(name) extern const Kernel name;
#include "kernels/gpu/kernels.inc"
#undef RUNG_GPU_KERNEL

namespace {

constexpr const Kernel* kRows[] = {
#define RUNG_GPU_KERNEL(name) &name,
#include "kernels/gpu/kernels.inc"
#undef RUNG_GPU_KERNEL
};

}  // namespace

std::span<const Kernel* const> all_kernels() { return kRows; }

}  // namespace rung::gpu
