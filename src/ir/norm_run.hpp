// How a linear says the squares of an RMS norm between itself and the next: Linear in ir/op.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

// Neighbouring columns whose squares have one mean.
constexpr int64_t kNormRun = 32;

}  // namespace rung
