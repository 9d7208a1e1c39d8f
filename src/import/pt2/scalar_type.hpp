// PyTorch's numbers for element types and layouts, as the schema of exported programs has them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/status.hpp"
#include "ir/dtype.hpp"

namespace rung::pt2 {

// Source: torch/_export/serde/schema.py, ScalarType. Errors: a type that no tensor of a graph can have, by its name.
Result<DType> dtype_of_number(int64_t number);

inline constexpr int64_t kFloat64 = 8;     // ScalarType
inline constexpr int64_t kComplex64 = 10;  // ScalarType
inline constexpr int64_t kStrided = 7;     // Layout

}  // namespace rung::pt2
