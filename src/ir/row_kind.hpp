// The reductions and scans along a row; compiled for instruction sets, so it includes nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

// A NaN in the row makes all of them NaN but argmax, which gives the place of the first largest value, and takes NaN
// for larger than every number.
enum class RowKind : uint8_t { sum, mean, max, min, product, argmax };

// The sums or products of a row's values up to each of them, that one among them.
enum class ScanKind : uint8_t { sum, product };

}  // namespace rung
