// Shapes read from files or inferred: refused where their sizes could overflow, before anything is computed from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "ir/shape.hpp"

namespace rung {

// The most elements of a shape, where a dimension of 0 does not excuse the others: sizes in bytes fit 63 bits for every
// dtype, and so do sums of many dimensions.
constexpr int64_t kMaxElements = int64_t{1} << 48;

// False also for a negative dimension.
bool within_limits(const Shape& shape);
Result<Shape> checked_shape(std::span<const uint64_t> dims);

}  // namespace rung
