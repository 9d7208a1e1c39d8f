// Operators of ONNX Runtime whose channels may stand behind the other axes, as their attribute channels_last says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx/call.hpp"

namespace rung::onnx {

// x, whose channels are the last axis, with them before the other axes; and back.
NodeId channels_first(const Call& call, NodeId x);
NodeId channels_last(const Call& call, NodeId x);
// The same where the call's attribute says so, else x.
NodeId image_of(const Call& call, NodeId x);
NodeId as_given(const Call& call, NodeId y);

}  // namespace rung::onnx
