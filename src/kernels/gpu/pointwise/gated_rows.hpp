// The second half of a gated linear whose product was computed by a library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

// `halves`: [m, 2 n] in the result's type, the gate's columns first.
Status enqueue_gated_rows(const Call& call, Address halves);

}  // namespace rung::gpu
