// The table of all CPU kernels, made from the rows of kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {

#define RUNG_CPU_KERNEL(name) extern const Kernel name;
#include "kernels/cpu/kernels.inc"
#undef RUNG_CPU_KERNEL

namespace {

constexpr const Kernel* kRows[] = {
#define RUNG_CPU_KERNEL(name) &name,
#include "kernels/cpu/kernels.inc"
#undef RUNG_CPU_KERNEL
};

}  // namespace

std::span<const Kernel* const> all_kernels() { return kRows; }

}  // namespace rung::cpu
