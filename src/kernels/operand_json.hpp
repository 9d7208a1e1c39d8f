// Operands as JSON, for tuning jobs and plans.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "kernels/problem.hpp"

namespace rung {

nlohmann::json dims_to_json(const Dims& dims);
nlohmann::json operand_to_json(const Operand& operand);  // [dtype, shape, strides, constant]

// The readers below throw the JSON library's exceptions or std::out_of_range; their callers turn both into a Status.
Dims dims_from_json(const nlohmann::json& json);
DType dtype_from_json(const nlohmann::json& json);
// Reads the four elements of an array from `first` on.
Operand operand_from_json(const nlohmann::json& json, size_t first = 0);

}  // namespace rung
