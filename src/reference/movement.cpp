// Ops that move elements without computing: views become strided copies; concat and gather copy runs of bytes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "reference/operations.hpp"
#include "reference/scalar.hpp"
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

namespace {

double joined(ScatterKind kind, double a, double b) {
  if (kind == ScatterKind::add) return a + b;
  if (kind == ScatterKind::mul) return a * b;
  if (kind == ScatterKind::max) return apply(BinaryKind::max, a, b);
  return kind == ScatterKind::min ? apply(BinaryKind::min, a, b) : b;
}
int64_t joined(ScatterKind kind, int64_t a, int64_t b) {
  if (kind == ScatterKind::add) return apply(BinaryKind::add, a, b);
  if (kind == ScatterKind::mul) return apply(BinaryKind::mul, a, b);
  if (kind == ScatterKind::max) return std::max(a, b);
  return kind == ScatterKind::min ? std::min(a, b) : b;
}

template <class T>
std::vector<T> scattered(ScatterKind kind, std::vector<T> x, const std::vector<int64_t>& rows, std::vector<T> updates) {
  const size_t width = rows.empty() ? 0 : updates.size() / rows.size();
  for (size_t i = 0; i < updates.size(); ++i) {
    T& to = x[size(rows[i / width]) * width + i % width];
    to = joined(kind, to, updates[i]);
  }
  return x;
}

}  // namespace

Result<Tensor> compute(const Scatter& op, const Arguments& arguments) {
  const auto rows = read_integers(arguments[1]);
  const int64_t count = arguments.result.shape[0];
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i] < 0 || rows[i] >= count)
      return fail("index {} at position {}: wanted 0 to {} (axis 0 of {})", rows[i], i, count - 1, arguments.result);
  if (!is_float(arguments.result.dtype))
    return write_integers(arguments.result,
                          scattered(op.kind, read_integers(arguments[0]), rows, read_integers(arguments[2])));
  return write(arguments.result, scattered(op.kind, read(arguments[0]), rows, read(arguments[2])));
}

}  // namespace rung::reference
