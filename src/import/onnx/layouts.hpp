// Operators of ONNX Runtime whose channels may stand behind the other axes, as their attribute channels_last says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx/call.hpp"

namespace rung::onnx {

// An input with its channels before the other axes.
NodeId channels_first(const Call& call, NodeId x);
// A result, which has its channels there, with them where the call wants them.
NodeId channels_as_given(const Call& call, NodeId y);

}  // namespace rung::onnx
