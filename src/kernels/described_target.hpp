// A target for a GPU that is not there: plans can be built for it, and asked for their launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/cards.hpp"
#include "kernels/target.hpp"

namespace rung {

// Opens the target once; it lives until the process ends. Errors: this build has no kernels for the GPU.
Result<const Target*> described_target(const gpu::Card& card);

}  // namespace rung
