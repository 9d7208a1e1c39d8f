// The second half of a gated linear whose product a library has computed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

// Enqueues the gated product of `halves`: [m, 2 n] in the result's type, with the gate's columns first.
Status enqueue_gated_rows(const Call& call, Address halves);

}  // namespace rung::gpu
