// A target for a GPU that is not there: plans can be built for it, and what they launch can be asked.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/cards.hpp"
#include "kernels/target.hpp"

namespace rung {

// Opened once, alive until the process ends. Errors: this build has no kernels for it.
Result<const Target*> described_target(const gpu::Card& card);

}  // namespace rung
