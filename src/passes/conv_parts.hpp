// Shared by the lowerings of convolutions: their windows, and their epilogue as ops of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/graph.hpp"
#include "ir/windows.hpp"

namespace rung::passes {

// Returns the windows along each axis of a convolution in the graph.
std::vector<Window> windows_of(const Graph& graph, NodeId conv);
// Returns whether the convolution's bias has factors of channels before the summands.
bool scales_channels(const Graph& graph, NodeId conv);
// Puts the convolution's factors, bias and activation behind its products.
NodeId activated(Graph& graph, NodeId conv, NodeId products);
// Puts the convolution's residual, last activation and tail behind what its first activation gives, in place of the
// convolution.
bool finish_conv(Graph& graph, NodeId conv, NodeId activated);

}  // namespace rung::passes
