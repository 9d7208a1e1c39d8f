// Position tables for images of another size than the one they were trained for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/graph_builder.hpp"

namespace rung::huggingface {

// Rows and columns of patches.
struct Grid {
  int64_t rows = 0, columns = 0;
  bool operator==(const Grid&) const = default;
};

// Resizes positions T[1,1 + patches,width], whose first row is the class token's and stays, by bicubic interpolation in
// f32: cubic convolution with a = -0.75, pixels as areas, edges repeated.
NodeId resize_positions(GraphBuilder& builder, NodeId positions, const Grid& from, const Grid& to);

}  // namespace rung::huggingface
