// Whether this processor gains by multiplying pairs of bf16.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rung::cpu {

// Returns whether AVX-512's products of bf16 pairs are faster than its products of f32, which some processors run at
// half the rate of others: measured once, in a few hundred microseconds. False without the instructions.
bool gains_by_pairs();

}  // namespace rung::cpu
