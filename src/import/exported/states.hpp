// States of exported graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/graph.hpp"

namespace rung::exported {

// Adds the states, whose inputs and outputs the graph has. One that is written row by row is kept with those rows
// first, so that a run updates it in place: where the next value is transpose(scatter(transpose(state), ...)), the
// state is what the scatter sees. States of first values other than zeros are kept as they are.
void add_states(Graph& graph, std::vector<State> states);

}  // namespace rung::exported
