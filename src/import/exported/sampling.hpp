// Reading images between their elements: at a grid of places, or within regions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "import/exported/emit.hpp"

namespace rung::exported {

enum class Outside : uint8_t { zeros, border, reflection };  // what stands around an image
enum class Between : uint8_t { linear, nearest, cubic };     // which neighbours are read

// x [N,C,spatial...] at a grid [N,spatial of the result...,axes] of places from -1 to 1, the last axis of x first.
struct GridSample {
  NodeId x, grid;
  Between between;
  Outside outside;
  bool corners;               // -1 and 1 are the centres of the outer elements, not their edges
  bool rounds_first = false;  // to the nearest place before one outside is brought back, not behind
};
// Returns [N,C,spatial of the result...] of x's type.
NodeId grid_sample(const Emit& emit, const GridSample& how);

// Places of a grid from -1 to 1 times matrices [N,axes,axes + 1], for sizes [N,C,spatial...]: the last axis first.
NodeId affine_grid(const Emit& emit, NodeId matrices, const std::vector<int64_t>& size, bool corners);

// Means of samples in each cell of regions [R,4] (left, top, right, bottom) of x [N,C,H,W]; images: [R].
struct RegionAlign {
  NodeId x, regions, images;
  int64_t rows, columns;  // of cells
  int64_t samples;        // of a cell, along each axis
  double scale;           // of the regions' places
  bool half;              // the centre of the first element is 0.5, not 0; regions may be narrower than an element
};
// Returns [R,C,rows,columns] of x's type.
NodeId region_align(const Emit& emit, const RegionAlign& how);

// A convolution over planes whose elements of the kernel read x between its elements, as far from their places as
// offsets say (Dai et al., 2017), times a mask (Zhu et al., 2019). Zeros stand around x.
struct DeformableConvolution {
  NodeId x, weight, offset;          // [B,C,H,W], [O,C/groups,KH,KW], [B,parts KH KW 2,rows,columns]: down, then right
  std::optional<NodeId> mask, bias;  // [B,parts KH KW,rows,columns], [O]
  std::array<int64_t, 2> stride, before, dilation;  // down and right
  int64_t groups, parts;                            // of weights, and of channels that share offsets
};
// Returns [B,O,rows,columns] of x's type.
NodeId deformable_convolution(const Emit& emit, const DeformableConvolution& how);

}  // namespace rung::exported
