// The functions of operators.inc, which stand in a file for each family.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx/call.hpp"

namespace rung::onnx::operators {
#define RUNG_ONNX(domain, name, function) Outputs function(const Call& call);
#include "import/onnx/operators.inc"
#undef RUNG_ONNX
}  // namespace rung::onnx::operators
