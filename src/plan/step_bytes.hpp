// The memory that a step reads and writes, by the length of the text that its caches hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "plan/plan.hpp"

namespace rung {

inline constexpr int64_t kFullCache = INT64_MAX;

// Returns the least bytes of memory that a step moves: `length` tokens of the cache of an attention that has a length,
// at most all of it, and what other steps move whatever the length is.
double bytes_at(const Step& step, int64_t length);

// Returns the length of the full cache that an attention reads, if operand `i` gives a length.
std::optional<int64_t> full_length(const Problem& problem, size_t i);

}  // namespace rung
