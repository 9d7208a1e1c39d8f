// Calls with float64, of which graphs have no tensors: what is known at import is computed at import, as tables of
// frequencies are.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "import/pt2/call.hpp"

namespace rung::pt2 {

// Returns whether an argument of the call is of float64, or asks for it.
bool takes_doubles(const Call& call);

// Returns the call's results. Throws where they depend on the values of an input.
Values in_doubles(const Call& call);

// The same; what cannot be computed in float64 at import is computed in f32 at run time.
Values in_doubles_or_f32(const Call& call);

// Numbers from `start` to `end` in equal steps, in T's arithmetic, each counted from the nearer end.
template <class T>
std::vector<T> evenly_spaced(double start, double end, int64_t steps) {
  if (steps < 0 || steps > exported::kMostMade) exported::refuse("{} numbers in equal steps", steps);
  const T first = static_cast<T>(start), last = static_cast<T>(end);
  const T step = steps > 1 ? (last - first) / static_cast<T>(steps - 1) : T{0};
  std::vector<T> values;
  for (int64_t i = 0; i < steps; ++i) {
    const bool is_near = i < steps / 2 || steps == 1;
    values.push_back(is_near ? first + step * static_cast<T>(i) : last - step * static_cast<T>(steps - i - 1));
  }
  return values;
}

}  // namespace rung::pt2
