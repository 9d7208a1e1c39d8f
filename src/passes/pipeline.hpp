// The ordered list of passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.hpp"

namespace rung {

std::span<const Pass> pipeline();

}  // namespace rung
