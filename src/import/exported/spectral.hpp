// Spectra of exported graphs: discrete Fourier transforms as products with tables, frames of signals, and windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/exported/emit.hpp"

namespace rung::exported {

// Numbers of two parts, of which graphs have no tensors: two tensors of one shape.
struct Complex {
  NodeId real;
  std::optional<NodeId> imaginary;  // none: 0
};

// Along one axis, whose elements are cut or followed by zeros to as many as `points`; of the results the first are
// computed. Every result is multiplied by `scale`.
struct Transform {
  int64_t points, results;
  bool inverse = false;
  double scale = 1;
};
// The results are f32, of both parts.
Complex transformed(const Emit& emit, const Complex& x, int64_t axis, const Transform& how);

// The signal of real numbers, f32, whose spectrum begins with the points / 2 + 1 numbers of x along an axis; the others
// are their conjugates. The axis is cut or followed by zeros, too.
NodeId signal_of_half(const Emit& emit, const Complex& x, int64_t axis, int64_t points, double scale);

// Windows of an axis, `points` long, that begin a step apart; two axes, [windows, points], stand in its place.
NodeId framed(const Emit& emit, NodeId x, int64_t axis, int64_t points, int64_t step);

// a - b cos(t) + c cos(2 t) over `size` places of a turn, f32 [size]; a periodic window begins its next turn behind
// its last place, another one ends with it.
struct Cosines {
  double a, b, c;
};
Tensor window_of(int64_t size, bool periodic, const Cosines& of);

}  // namespace rung::exported
