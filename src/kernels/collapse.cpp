// Merges axes of a loop nest.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/collapse.hpp"

#include <vector>

namespace rung {
namespace {

struct Axis {
  int64_t size;
  std::vector<int64_t> strides;
};

// Returns whether a step past the end of `inner` is one step of `outer`, for every operand.
bool continues(const Axis& outer, const Axis& inner) {
  for (size_t i = 0; i < inner.strides.size(); ++i)
    if (outer.strides[i] != inner.strides[i] * inner.size) return false;
  return true;
}

std::vector<Axis> merged(const Shape& shape, std::span<const Strides> strides) {
  std::vector<Axis> axes;  // innermost first
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    Axis next{shape[axis], {}};
    for (const Strides& s : strides) next.strides.push_back(s[axis]);
    if (!axes.empty() && continues(next, axes.back()))
      axes.back().size *= next.size;
    else
      axes.push_back(std::move(next));
  }
  return axes;
}

}  // namespace

Loops collapse(const Shape& shape, std::span<const Strides> strides) {
  auto axes = merged(shape, strides);
  Loops loops;
  loops.operands = static_cast<int>(strides.size());
  for (int i = 0; i < loops.operands; ++i)
    loops.inner_strides[i] = axes.empty() ? 1 : axes[0].strides[static_cast<size_t>(i)];
  if (axes.empty()) return loops;
  loops.inner = axes[0].size;
  loops.rank = static_cast<int>(axes.size()) - 1;
  for (int axis = 0; axis < loops.rank; ++axis) {
    const Axis& from = axes[static_cast<size_t>(loops.rank - axis)];
    loops.shape[axis] = from.size;
    loops.outer *= from.size;
    for (int i = 0; i < loops.operands; ++i) loops.strides[axis][i] = from.strides[static_cast<size_t>(i)];
  }
  return loops;
}

void outer_offsets(const Loops& loops, int64_t position, int64_t* offsets) {
  for (int i = 0; i < loops.operands; ++i) offsets[i] = 0;
  for (int axis = loops.rank - 1; axis >= 0; --axis) {
    const int64_t index = position % loops.shape[axis];
    position /= loops.shape[axis];
    for (int i = 0; i < loops.operands; ++i) offsets[i] += index * loops.strides[axis][i];
  }
}

Loops collapse_outer(const Shape& shape, std::span<const Strides> strides) {
  Loops loops = collapse(shape, strides);
  if (loops.inner == 1) return loops;
  loops.shape[loops.rank] = loops.inner;
  for (int i = 0; i < loops.operands; ++i) loops.strides[loops.rank][i] = loops.inner_strides[i];
  ++loops.rank;
  loops.outer *= loops.inner;
  loops.inner = 1;
  return loops;
}

}  // namespace rung
