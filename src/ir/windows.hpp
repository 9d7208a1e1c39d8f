// The windows that convolutions and poolings slide over an axis: which element a tap of a result sees.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/op.hpp"

namespace rung {

// The windows along one axis of x. All numbers are checked: none is larger than kMostOfWindow.
struct Window {
  int64_t extent = 1;  // of x
  int64_t taps = 1;
  int64_t stride = 1, dilation = 1, before = 0, after = 0, extra = 0;
  bool transposed = false;

  int64_t results() const;
  // Returns the element of x that a result sees through a tap; none: it stands outside, or between x's elements.
  std::optional<int64_t> seen(int64_t result, int64_t tap) const;
  // Returns whether every result is the element of x at its own place.
  bool is_point() const { return taps == 1 && stride == 1 && before == 0 && after == 0 && extra == 0; }
  // Returns whether windows stand side by side and cover x but for its end.
  bool is_patch() const { return taps == stride && dilation == 1 && before == 0 && after == 0 && !transposed; }
};

inline constexpr int64_t kMostOfWindow = int64_t{1} << 30;

// Returns the number of an axis in a list that may be empty.
int64_t number_of(const Dims& list, int axis, int64_t if_empty);
// Returns the windows along axis `axis` of I..., of operands that the op's type rule has accepted.
Window window_of(const Conv& op, const Shape& x, const Shape& w, int axis);
Window window_of(const Pool& op, const Shape& x, int axis);

// Returns whether the op makes floats of bytes that may be weights of a convolution. As constants these stay bytes,
// however few they are, because kernels read them so.
bool widens_windows(const Op& op, const Type& from);

// Returns whether a convolution's bias, V[O] or V[2,O], has a row of factors before that of summands.
inline bool has_factors(const Shape& bias) { return bias.rank() == 2; }

}  // namespace rung
