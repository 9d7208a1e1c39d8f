// Helpers of the rows that take heads into caches: the problems that they take, and the kernels' argument.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/cache_heads_arguments.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

Verdict supports_cache_heads(const Problem& problem, const Machine& machine);

// Returns the argument for a problem of cache_heads, whose operands are the first ones of the call. The queries go to
// the call's result.
CacheHeadsArguments cache_heads_arguments(const Problem& problem, const Call& call);

}  // namespace rung::gpu
