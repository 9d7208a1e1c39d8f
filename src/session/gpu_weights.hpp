// A plan's weights on a GPU: each block of host memory is uploaded once and shared by all sessions that read it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "device/gpu/gpu.hpp"
#include "plan/plan.hpp"

namespace rung {

// Returns blocks by the plan's weight index. Errors, before anything is allocated: not enough device memory for the
// missing blocks plus `more` bytes.
Result<std::vector<std::shared_ptr<gpu::Block>>> upload_weights(const Plan& plan, size_t more);

}  // namespace rung
