// The integer functions of ir/functions.inc and ir/formulas.inc over symbolic vectors of i32.
// SPDX-License-Identifier: Apache-2.0
//
// Narrower integers are computed in 32 bits; what they keep of a result is its low bits, as if it were computed in 64.
#pragma once
#include "kernels/generated/symbolic.hpp"

namespace rung::cpu::symbolic::integers {

RUNG_SIMD Ints choose(Mask m) { return select(m, set1(1), set1(0)); }
RUNG_SIMD Mask is_negative(Ints x) { return greater(set1(0), x); }

RUNG_SIMD Ints neg(Ints x) { return set1(0) - x; }
RUNG_SIMD Ints abs(Ints x) { return select(is_negative(x), neg(x), x); }
RUNG_SIMD Ints square(Ints x) { return x * x; }
RUNG_SIMD Ints relu(Ints x) { return select(is_negative(x), set1(0), x); }
RUNG_SIMD Ints add(Ints x, Ints y) { return x + y; }
RUNG_SIMD Ints sub(Ints x, Ints y) { return x - y; }
RUNG_SIMD Ints mul(Ints x, Ints y) { return x * y; }
RUNG_SIMD Ints div(Ints x, Ints y) { return quotient(x, y); }
RUNG_SIMD Ints max(Ints x, Ints y) { return select(greater(x, y), x, y); }
RUNG_SIMD Ints min(Ints x, Ints y) { return select(greater(y, x), x, y); }
RUNG_SIMD Ints eq(Ints x, Ints y) { return choose(equal(x, y)); }
RUNG_SIMD Ints ne(Ints x, Ints y) { return choose(!equal(x, y)); }
RUNG_SIMD Ints lt(Ints x, Ints y) { return choose(greater(y, x)); }
RUNG_SIMD Ints le(Ints x, Ints y) { return choose(!greater(x, y)); }
RUNG_SIMD Ints gt(Ints x, Ints y) { return choose(greater(x, y)); }
RUNG_SIMD Ints ge(Ints x, Ints y) { return choose(!greater(y, x)); }

RUNG_SIMD Ints fmod(Ints x, Ints y) { return x - quotient(x, y) * y; }
RUNG_SIMD Ints floor_mod(Ints x, Ints y) {
  const Ints rest = fmod(x, y);
  const Mask moves = is_negative(rest ^ y) & !equal(rest, set1(0));
  return select(moves, rest + y, rest);
}
// By squares; a negative exponent gives the whole part of a fraction.
RUNG_SIMD Ints int_pow(Ints x, Ints y) {
  Ints result = set1(1), power = x;
  for (int bit = 0; bit < 31; ++bit) {
    const Ints set = y & set1(1 << bit);
    result = select(equal(set, set1(0)), result, result * power);
    power = power * power;
  }
  const Ints odd = y & set1(1);
  const Ints of_minus_one = select(equal(odd, set1(0)), set1(1), set1(-1));
  const Ints fraction = select(equal(x, set1(1)), set1(1), select(equal(x, set1(-1)), of_minus_one, set1(0)));
  return select(is_negative(y), fraction, result);
}
RUNG_SIMD Ints bit_and(Ints x, Ints y) { return x & y; }
RUNG_SIMD Ints bit_or(Ints x, Ints y) { return x | y; }
RUNG_SIMD Ints bit_xor(Ints x, Ints y) { return x ^ y; }
RUNG_SIMD Ints shift_left(Ints x, Ints places) { return shift_left_by(x, places); }
RUNG_SIMD Ints shift_right(Ints x, Ints places) { return shift_right_signed_by(x, places); }

}  // namespace rung::cpu::symbolic::integers
