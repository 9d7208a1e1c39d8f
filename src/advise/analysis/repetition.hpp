// Where a sequence repeats itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::advise {

// Where each repetition begins, and where the last one ends; empty: at least four fifths of the sequence do not repeat.
std::vector<size_t> find_repetitions(const std::vector<uint32_t>& tokens);

}  // namespace rung::advise
