// Shapes read from files or inferred: refused if their sizes could overflow, before anything is computed from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "ir/shape.hpp"

namespace rung {

// The most elements of a shape, even if another dimension is 0: sizes in bytes fit 63 bits for every dtype, and so do
// sums of many dimensions.
constexpr int64_t kMaxElements = int64_t{1} << 48;

// Returns whether a shape's elements are within the limit; false also for a negative dimension.
bool within_limits(const Shape& shape);
Result<Shape> checked_shape(std::span<const uint64_t> dims);

}  // namespace rung
