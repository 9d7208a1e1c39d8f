// The RMS norms of a product's heads as one region, whose heads have weights of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/op.hpp"

namespace rung::passes {

// Returns the region of heads [...,H,D] and weights U[H,D] that computes this norm of each head.
Region region_of_heads(const RmsNorm& norm);
// Returns the norm whose region of heads it is; nullopt: it is another one.
std::optional<RmsNorm> norm_of_heads(const Region& region);

}  // namespace rung::passes
