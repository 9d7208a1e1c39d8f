// Turns broadcasts and views into strides.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided.hpp"

namespace rung {

Strides broadcast_strides(const Operand& operand, const Shape& shape) {
  Strides strides = Strides::filled(shape.rank(), 0);
  int shift = shape.rank() - operand.shape.rank();
  for (int axis = 0; axis < operand.shape.rank(); ++axis)
    if (operand.shape[axis] != 1) strides[axis + shift] = operand.strides[axis];
  return strides;
}

namespace {

View transposed(const Transpose& op, const Operand& operand) {
  View view;
  for (int64_t axis : op.permutation) view.strides.push_back(operand.strides[static_cast<int>(axis)]);
  return view;
}

View sliced(const Slice& op, const Operand& operand) {
  int axis = static_cast<int>(op.axis < 0 ? op.axis + operand.shape.rank() : op.axis);
  int64_t begin = op.begin < 0 ? op.begin + operand.shape[axis] : op.begin;
  View view{operand.strides, begin * operand.strides[axis]};
  view.strides[axis] *= op.step;
  return view;
}

}  // namespace

View view_of(const Op& op, const Operand& operand, const Shape& result) {
  if (auto* transpose = as<Transpose>(op)) return transposed(*transpose, operand);
  if (auto* slice = as<Slice>(op)) return sliced(*slice, operand);
  return {broadcast_strides(operand, result), 0};
}

namespace {

// A maximal run of old axes that is dense within itself: `count` elements, `stride` apart.
struct Run {
  int64_t count = 1, stride = 1;
};

// Returns the runs from the innermost out; axes of length 1 belong to none.
std::vector<Run> dense_runs(const Operand& x) {
  std::vector<Run> runs;
  for (int axis = x.shape.rank() - 1; axis >= 0; --axis) {
    if (x.shape[axis] == 1) continue;
    if (runs.empty() || x.strides[axis] != runs.back().stride * runs.back().count)
      runs.push_back({x.shape[axis], x.strides[axis]});
    else
      runs.back().count *= x.shape[axis];
  }
  return runs;
}

}  // namespace

std::optional<Strides> reshaped_strides(const Operand& operand, const Shape& shape) {
  if (shape.product() == 0) return contiguous_strides(shape);
  Strides strides = Strides::filled(shape.rank(), 1);
  auto runs = dense_runs(operand);
  size_t run = 0;
  int64_t used = 1;  // elements of the current run that inner axes have taken
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) {  // as in row order, so that a view of all elements in row order is contiguous
      if (axis + 1 < shape.rank()) strides[axis] = strides[axis + 1] * shape[axis + 1];
      continue;
    }
    if (run < runs.size() && used == runs[run].count) ++run, used = 1;
    if (run == runs.size() || runs[run].count % (used * shape[axis]) != 0) return std::nullopt;
    strides[axis] = runs[run].stride * used;
    used *= shape[axis];
  }
  return strides;
}

}  // namespace rung
