// The formulas of ir/formulas.inc over integers of 32 or 64 bits, for generated kernels.
// SPDX-License-Identifier: Apache-2.0
// Integers wrap around, so arithmetic is unsigned. A kernel reports a divisor of 0; its result may be any. Narrower
// integers are computed in 32 bits: what they keep of a result is its low bits.
#pragma once

template <class I>
struct UnsignedOf;
template <>
struct UnsignedOf<int> {
  using Type = uint32_t;
};
template <>
struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};
template <class I>
using Unsigned = typename UnsignedOf<I>::Type;

template <class I>
__device__ inline I wrapped_product(I x, I y) {
  return static_cast<I>(static_cast<Unsigned<I>>(x) * static_cast<Unsigned<I>>(y));
}
// Returns whether a shift by `places` leaves no bit of a value.
template <class I>
__device__ inline bool shifts_all(I places) {
  return static_cast<Unsigned<I>>(places) >= sizeof(I) * 8;
}

// The sign is the dividend's; the least integer has no quotient by -1, but a remainder.
template <class I>
__device__ inline I formula_fmod(I x, I y) {
  return y == 0 || y == -1 ? 0 : x % y;
}
// The sign is the divisor's.
template <class I>
__device__ inline I formula_floor_mod(I x, I y) {
  const I rest = formula_fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
// By squares; a negative exponent gives the whole part of a fraction.
template <class I>
__device__ inline I formula_int_pow(I x, I y) {
  if (y < 0) return x == 1 ? 1 : x != -1 ? 0 : y % 2 == 0 ? 1 : -1;
  I result = 1;
  for (; y > 0; y /= 2) {
    if (y % 2 == 1) result = wrapped_product(result, x);
    x = wrapped_product(x, x);
  }
  return result;
}
template <class I>
__device__ inline I formula_and(I x, I y) {
  return x & y;
}
template <class I>
__device__ inline I formula_or(I x, I y) {
  return x | y;
}
template <class I>
__device__ inline I formula_xor(I x, I y) {
  return x ^ y;
}
template <class I>
__device__ inline I formula_shift_left(I x, I places) {
  return shifts_all(places) ? 0 : static_cast<I>(static_cast<Unsigned<I>>(x) << places);
}
template <class I>
__device__ inline I formula_shift_right(I x, I places) {
  return shifts_all(places) ? (x < 0 ? -1 : 0) : x >> places;
}
