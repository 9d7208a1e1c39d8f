// Reads tensors exactly into f64 or i64, rounds results once, and copies through strides.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ir/tensor.hpp"

namespace rung::reference {

inline size_t size(int64_t n) { return static_cast<size_t>(n); }

// Returns all elements as f64; exact for every dtype except integers beyond 2^53.
std::vector<double> read(const Tensor& tensor);
// Reads elements begin, begin+1, ... into `out`.
void read(const Tensor& tensor, int64_t begin, std::span<double> out);
// Returns the elements of an integer or bool tensor.
std::vector<int64_t> read_integers(const Tensor& tensor);

// Rounds each value once, to nearest even; truncates for integer types; for bool, non-zero is true.
Tensor write(const Type& type, std::span<const double> values);
// Rounds as quantize() does: to nearest even, a float once; integers of 8 bits are limited to -127..127, and a NaN is 0
// there.
Tensor write_rounded(const Type& type, std::span<const double> values);
// Wraps integers around in two's complement; for bool, non-zero is true.
Tensor write_integers(const Type& type, std::span<const int64_t> values);
double round_to(DType dtype, double value);

// Element i of the result (row-major in `shape`) is the element of `from` at offset + the dot product of i's
// coordinates and `strides`, in elements.
Tensor copy_strided(const Tensor& from, const Shape& shape, const Strides& strides, int64_t offset = 0);
// Broadcasts by numpy's rule; shares storage when nothing changes.
Tensor broadcast_to(const Tensor& tensor, const Shape& shape);

// A shape split at one axis: element (o, i, n) is at (o * length + i) * inner + n.
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
};
AxisView view_axis(const Shape& shape, int axis);

}  // namespace rung::reference
