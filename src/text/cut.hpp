// How much of a text, or of two, is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>

namespace rung::text {

// Returns how many tokens of each of two texts are kept if `room` is what both may have: the longer one is cut down to
// the other, then both are.
std::pair<size_t, size_t> kept_of_pair(size_t first, size_t second, size_t room);

}  // namespace rung::text
