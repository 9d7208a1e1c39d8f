// Ops that move elements without computing: views become strided copies; concat and gather copy runs of bytes.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "reference/operations.hpp"
#include "reference/values.hpp"

namespace rung::reference {
Result<Tensor> compute(const Reshape&, const Arguments& arguments) {
  return copy_strided(arguments[0], arguments.result.shape, contiguous_strides(arguments.result.shape));
}

Result<Tensor> compute(const Transpose& op, const Arguments& arguments) {
  Strides own = contiguous_strides(arguments[0].shape()), strides = own;
  for (int i = 0; i < strides.rank(); ++i) strides[i] = own[static_cast<int>(op.permutation[i])];
  return copy_strided(arguments[0], arguments.result.shape, strides);
}

Result<Tensor> compute(const Slice& op, const Arguments& arguments) {
  Strides strides = contiguous_strides(arguments[0].shape());
  RUNG_TRY(int axis, normalize_axis(op.axis, strides.rank()));
  int64_t offset = strides[axis] * op.begin;
  strides[axis] *= op.step;
  return copy_strided(arguments[0], arguments.result.shape, strides, offset);
}

Result<Tensor> compute(const Broadcast&, const Arguments& arguments) {
  return broadcast_to(arguments[0], arguments.result.shape);
}

Result<Tensor> compute(const Concat& op, const Arguments& arguments) {
  RUNG_TRY(int axis, normalize_axis(op.axis, arguments.result.shape.rank()));
  Tensor out(arguments.result);
  AxisView whole = view_axis(arguments.result.shape, axis);
  size_t row = size(whole.length * whole.inner) * size_of(out.dtype()), begin = 0;
  for (const Tensor& part : arguments.operands) {
    size_t run = size(part.shape()[axis] * whole.inner) * size_of(out.dtype());
    for (size_t o = 0; o < size(whole.outer); ++o)
      std::memcpy(out.data() + o * row + begin, part.data() + o * run, run);
    begin += run;
  }
  return out;
}

Result<Tensor> compute(const Gather& op, const Arguments& arguments) {
  RUNG_TRY(int axis, normalize_axis(op.axis, arguments[0].shape().rank()));
  AxisView view = view_axis(arguments[0].shape(), axis);
  auto indices = read_integers(arguments[1]);
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0 || indices[i] >= view.length)
      return fail("index {} at position {}: wanted 0 to {} (axis {} of {})", indices[i], i, view.length - 1, axis,
                  arguments[0].type());
  Tensor out(arguments.result);
  size_t run = size(view.inner) * size_of(out.dtype());
  std::byte* to = out.data();
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t index : indices) {
      std::memcpy(to, arguments[0].data() + size(o * view.length + index) * run, run);
      to += run;
    }
  return out;
}

}  // namespace rung::reference
