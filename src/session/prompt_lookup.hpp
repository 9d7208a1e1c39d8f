// Guesses how a text goes on: as it went on where its last tokens stood before.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace rung {

// Returns the `most` tokens behind the latest place before the end where the longest part of the text's end stands, of
// 4 to 2 tokens; a place that is close to the end goes on with the drafts themselves, as a text that repeats itself
// does. None: there is no such place.
std::vector<int64_t> look_up(std::span<const int64_t> text, size_t most);

}  // namespace rung
