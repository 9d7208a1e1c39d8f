// Shared by the lowerings of convolutions: their windows, and their epilogue as ops of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/graph.hpp"
#include "ir/windows.hpp"

namespace rung::passes {

// Returns the windows along each axis of a convolution in the graph.
std::vector<Window> windows_of(const Graph& graph, NodeId conv);
// Puts the convolution's bias, activations, residual and tail behind its products, in place of the convolution.
bool finish_conv(Graph& graph, NodeId conv, NodeId products);

}  // namespace rung::passes
