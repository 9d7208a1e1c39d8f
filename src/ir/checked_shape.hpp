// Shapes read from files: refused where their sizes could overflow, before anything is computed from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "ir/shape.hpp"

namespace rung {

// Elements and each dimension stay at most 2^59, so that sizes in bytes fit 63 bits for every dtype; a dimension of 0
// does not excuse the others.
Result<Shape> checked_shape(std::span<const uint64_t> dims);

}  // namespace rung
