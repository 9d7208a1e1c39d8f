// Damages a plan's JSON as a decision stream says, and repairs some of what follows from it, so that much of what is
// damaged still has a chance to be accepted.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fuzzer/FuzzedDataProvider.h>

#include <nlohmann/json.hpp>

#include "plan/plan.hpp"

namespace rung::fuzz {

void damage(nlohmann::json& plan, FuzzedDataProvider& decisions);
// Types of results, sizes of buffers, scratch and weights as the steps now want them, each buffer with addresses of its
// own; stops at the first step that nothing can repair.
void repair(Plan& plan);

}  // namespace rung::fuzz
