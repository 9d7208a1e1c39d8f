// Every pass there is; pipeline.cpp gives their order. Each is right by itself, whichever others ran before it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.hpp"

namespace rung::passes {

// reduce: exact removal of work
Status simplify(Graph& graph, PassContext& context);
Status fold_constants(Graph& graph, PassContext& context);
Status merge_equal(Graph& graph, PassContext& context);

}  // namespace rung::passes
