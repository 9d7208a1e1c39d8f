// The nest that locates each pair of matrices of a batched product, for the rows of matmul on a GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/make_nest.hpp"
#include "kernels/strided.hpp"

namespace rung::gpu {

// Returns the nest over the axes before the matrices', which broadcast; the matrices' own axes do not.
inline Nest<2> batch_of(const Problem& matmul) {
  const auto leading = [](const Dims& dims) { return Dims(std::span(dims.begin(), dims.end() - 2)); };
  const Shape batch = leading(matmul.output.shape);
  std::array<Strides, 2> matrices;
  for (size_t i = 0; i < 2; ++i) {
    Operand each = matmul.inputs[i];
    each.shape = leading(each.shape), each.strides = leading(each.strides);
    matrices[i] = broadcast_strides(each, batch);
  }
  return make_nest<2>(collapse(batch, matrices));
}

}  // namespace rung::gpu
