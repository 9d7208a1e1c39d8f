// The micro-kernels of AMX with its instructions as plain code, so that their loops and layouts are tested on
// processors without it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/linear/micro.hpp"

namespace rung::cpu::gemm {

// They use AVX-512 VNNI.
extern const MicroKernels kEmulatedAmxInt8;

}  // namespace rung::cpu::gemm
