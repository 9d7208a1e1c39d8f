// Heads of attentions: side by side in the columns of a token, as ONNX's operators pass them, or apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx/call.hpp"

namespace rung::onnx {

// [B,S,H D] -> [B,H,S,D]; refuses columns that do not part into H heads.
NodeId heads_apart(const Call& call, NodeId x, int64_t heads);
// [B,H,S,D] -> [B,S,H D]
NodeId heads_together(const Call& call, NodeId x);

}  // namespace rung::onnx
