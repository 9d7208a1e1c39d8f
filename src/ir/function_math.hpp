// Functions that the expressions of ir/functions.inc call beside the C library, on host and device alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::functions {

// Returns NaN if either is one. NOLINTBEGIN(misc-redundant-expression): only a NaN differs from itself
template <class T>
constexpr T max_of(T a, T b) {
  return a != a || a > b ? a : b;
}
template <class T>
constexpr T min_of(T a, T b) {
  return a != a || a < b ? a : b;
}
// NOLINTEND(misc-redundant-expression)

// Integers wrap around in 64 bits: unsigned arithmetic does so, signed overflow would be undefined.
constexpr uint64_t bits(int64_t x) { return static_cast<uint64_t>(x); }
constexpr int64_t wrap(uint64_t x) { return static_cast<int64_t>(x); }
constexpr int64_t negated(int64_t x) { return wrap(-bits(x)); }
constexpr int64_t sum(int64_t x, int64_t y) { return wrap(bits(x) + bits(y)); }
constexpr int64_t difference(int64_t x, int64_t y) { return wrap(bits(x) - bits(y)); }
constexpr int64_t product(int64_t x, int64_t y) { return wrap(bits(x) * bits(y)); }
// Returns the truncated quotient; y is not 0.
constexpr int64_t quotient(int64_t x, int64_t y) { return y == -1 ? negated(x) : x / y; }

}  // namespace rung::functions
