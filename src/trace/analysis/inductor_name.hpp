// Reads names that PyTorch's Inductor gives to kernels: the fused operations, in alphabetical order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace rung::trace {

// Recognises "triton_poi_fused_clone_transpose_21": only views of tensors and at least one operation that moves them.
bool is_inductor_copy(std::string_view name);

}  // namespace rung::trace
