// Loops over a row in whole vectors and at most one part of a vector, with a body that is written once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/numeric.hpp"
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::RUNG_ISA {

// An iteration covers all lanes of a vector (Whole), or the first n (Part).
struct Whole {};
struct Part {
  int n;
};
template <class T>
RUNG_SIMD Vec load(const T* p, Whole) {
  return load(p);
}
template <class T>
RUNG_SIMD Vec load(const T* p, Part part) {
  return load(p, part.n);
}
template <class T>
RUNG_SIMD void store(T* p, Vec v, Whole) {
  store(p, v);
}
template <class T>
RUNG_SIMD void store(T* p, Vec v, Part part) {
  store(p, v, part.n);
}
// Returns v in the lanes covered, `other` in the rest.
RUNG_SIMD Vec keep(Vec v, Vec, Whole) { return v; }
RUNG_SIMD Vec keep(Vec v, Vec other, Part part) { return select(first(part.n), v, other); }

// Calls f(index of the first element, Whole or Part); f must be a lambda marked RUNG_INLINE.
#define RUNG_INLINE __attribute__((always_inline))
template <class F>
RUNG_SIMD void each_vector(int64_t count, const F& f) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) f(i, Whole{});
  if (i < count) f(i, Part{static_cast<int>(count - i)});
}

}  // namespace rung::cpu::RUNG_ISA
