// The arguments of products of any strides and types, read out of a call.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_tiled_arguments.hpp"

namespace rung::gpu {

TiledArguments tiled_linear(const Call& call);
TiledArguments tiled_matmul(const Call& call);

// Returns whether results come in pairs of columns: gate and up, or the two halves of a head.
inline bool has_pairs(const TiledArguments& a) { return a.end.gated || a.end.rotated > 0; }

}  // namespace rung::gpu
