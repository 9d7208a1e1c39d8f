// Where a sequence repeats itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::trace {

// Where each repetition begins, and where the last one ends; empty: less than four fifths of the sequence repeat. If it
// begins or ends in the middle of one, they begin after the longest pause: pauses[i] is that before tokens[i].
std::vector<size_t> find_repetitions(const std::vector<uint32_t>& tokens, const std::vector<int64_t>& pauses);

}  // namespace rung::trace
