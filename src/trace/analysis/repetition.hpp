// Finds repetitions in a sequence.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::trace {

// Returns the start of each repetition, and the end of the last one; empty: less than four fifths of the sequence
// repeat. If the repeated part is no whole number of them, they begin after the longest pause: pauses[i] is before
// tokens[i].
std::vector<size_t> find_repetitions(const std::vector<uint32_t>& tokens, const std::vector<int64_t>& pauses);

}  // namespace rung::trace
