// Inputs of exported graphs: their samples follow from what reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "import/model.hpp"

namespace rung::exported {

// Weights of at most as many elements are read at import, so that shapes and masks that follow from them are known.
inline constexpr int64_t kMostSmall = 1024;

// Declares an input.
NodeId add_input(Model& model, const std::string& name, const Type& type);

// Gives each input its meaning, range and sample, when the graph is whole: an index is within the table that it is read
// from, other integers and bools are ones, which masks and segments may be, and floats are normally distributed.
void settle_inputs(Model& model);

}  // namespace rung::exported
