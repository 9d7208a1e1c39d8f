// Exact reading of tensors into f64 or i64, rounding results once, and copying through strides.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ir/tensor.hpp"

namespace rung::reference {

inline size_t size(int64_t n) { return static_cast<size_t>(n); }

// All elements as f64; exact for every dtype but integers beyond 2^53.
std::vector<double> read(const Tensor& tensor);
// Elements begin, begin+1, ... into `out`.
void read(const Tensor& tensor, int64_t begin, std::span<double> out);
// Elements of an integer or bool tensor.
std::vector<int64_t> read_integers(const Tensor& tensor);

// Rounds each value once, to nearest even; into an integer type it truncates, into bool non-zero is true.
Tensor write(const Type& type, std::span<const double> values);
// Wraps around, as two's complement does; into bool non-zero is true.
Tensor write_integers(const Type& type, std::span<const int64_t> values);
double round_to(DType dtype, double value);

// Element i of the result (row-major in `shape`) is the element of `from` at offset + the dot product of i's
// coordinates and `strides`, in elements.
Tensor copy_strided(const Tensor& from, const Shape& shape, const Strides& strides, int64_t offset = 0);
// By numpy's rule; shares storage when nothing changes.
Tensor broadcast_to(const Tensor& tensor, const Shape& shape);

// A shape seen around one axis: element (o, i, n) is at (o * length + i) * inner + n.
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
};
AxisView view_axis(const Shape& shape, int axis);

}  // namespace rung::reference
