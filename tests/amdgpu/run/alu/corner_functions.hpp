// What corner tables of numbers share: roundings to whole numbers, exponents, and functions with an error of an ulp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>

#include "corner_rows.hpp"

namespace rung::amdgpu::corner {

// A number that the format holds.
inline Part exactly(const In& x, Quad value, bool negative_zero, const Format& to) {
  return x.number({value, 0}, negative_zero, to);
}
// TRUNC, FLOOR, CEIL, RNDNE: NaN is quieted, infinities stay, zeros keep their sign.
template <class Rule>
Part to_whole(const In& x, const Number& a, Rule rule) {
  if (a.is_nan()) return nan_part();
  if (a.is_infinite()) return bits_part(a.bits);
  return exactly(x, rule(a.value()), a.negative(), a.format);
}
inline Quad ceil_of(Quad x) { return -floor_of(-x); }
// FRACT: x - floor(x), less than 1.
inline Part fraction(const In& x, const Number& a) {
  if (a.is_nan() || a.is_infinite()) return nan_part();
  const Quad below = floor_of(a.value());
  const Part made = x.number(exact_sum(a.value(), -below), x.rounding(a.format) == 2, a.format);
  const uint64_t one = static_cast<uint64_t>(a.format.bias()) << a.format.mantissa;
  return bits_part(std::min(made.bits, made.bits & a.format.sign() ? made.bits : one - 1));
}
// LDEXP: x times two to the power of a whole number.
inline Part scaled(const In& x, const Number& a, Wide exponent) {
  if (a.is_nan()) return nan_part();
  if (a.is_infinite() || a.is_zero()) return bits_part(a.bits);
  const int power = static_cast<int>(std::clamp<Wide>(exponent, -8000, 8000));
  return x.number({a.value() * power_of_two(power), 0}, a.negative(), a.format);
}
// FREXP: the exponent and the significand in [0.5, 1) of C's frexp().
inline Wide power_of(const Number& a) {
  if (a.is_nan() || a.is_infinite() || a.is_zero()) return 0;
  Wide power = 0;
  for (Quad m = a.absolute().value(); m >= 1; m /= 2) ++power;
  for (Quad m = a.absolute().value(); m < Quad{0.5}; m *= 2) --power;
  return power;
}
inline Part significand(const In& x, const Number& a) {
  if (a.is_signalling()) return any_part();  // whether it is made quiet is not said
  if (a.is_nan()) return nan_part();
  if (a.is_infinite() || a.is_zero()) return bits_part(a.bits);
  return exactly(x, a.value() / power_of_two(static_cast<int>(power_of(a))), false, a.format);
}

// MED3 of the guide.
inline Part median(const In& x, const Number& a, const Number& b, const Number& c) {
  const auto is_same = [](const Number& p, const Number& q) {
    return !p.is_nan() && !q.is_nan() && (p.bits == q.bits || (p.is_zero() && q.is_zero()));
  };
  if (a.is_nan() || b.is_nan() || c.is_nan()) return x.least(x.extreme(a, b, false), c);
  const Number top = x.extreme(x.extreme(a, b, true), c, true);
  return is_same(top, a) ? x.most(b, c) : is_same(top, b) ? x.most(a, c) : x.most(a, b);
}
// MINIMUM3 and MAXIMUM3: NaN if any is.
inline Part extreme_or_nan(const In& x, std::initializer_list<Number> all, bool larger) {
  Number best = *all.begin();
  for (const Number& one : all) {
    if (one.is_nan()) return nan_part();
    best = x.extreme(best, one, larger);
  }
  return bits_part(best.bits);
}

// A function of the host's library, rounded to nearest, that may be `ulps` away.
inline Part about(const Number& a, double value, int ulps) {
  if (std::isnan(value)) return nan_part();
  const bool negative = std::signbit(value);
  if (std::isinf(value)) return bits_part(a.format.infinity() | (negative ? a.format.sign() : 0));
  Part part = bits_part(value == 0 ? (negative ? a.format.sign() : 0) : rounded({value, 0}, a.format, 0));
  part.ulps = ulps;
  return part;
}
inline double host(const Number& a) { return a.is_nan() ? NAN : static_cast<double>(a.value()); }
// Of turns, whose whole ones are nothing; beyond 256 turns it is that of none.
inline Part turned(const Number& a, double (*function)(double)) {
  if (a.is_nan() || a.is_infinite()) return nan_part();
  const double turns = host(a), rest = std::remainder(turns, 1);
  if (std::fabs(turns) > 256 || (rest == 0 && turns != 0)) return about(a, function(0), 0);  // of +0
  Part part = about(a, function(6.283185307179586 * rest), 2);
  if (turns == 0) part.ulps = 0;
  if (std::fabs(rest) > 0.24) part.tolerance = power_of_two(1 - a.format.mantissa);  // near its zeros
  return part;
}

}  // namespace rung::amdgpu::corner
