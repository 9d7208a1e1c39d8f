// Origins: the ops of a model that each op of its rewritten graph took in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/graph.hpp"

namespace rung {

// Returns, by node of `rewritten`, the ops of `model` that ended in it, in the model's order, without views and without
// values of constants alone. `rewritten` is a copy of `model` that passes edited. An op of the model whose value is a
// constant now, or that nothing needs any more, is in none; one whose value is a part of another's result (q in the
// product of q, k and v) is in that.
std::vector<std::vector<NodeId>> origins(const Graph& model, const Graph& rewritten);

}  // namespace rung
