// The reductions and scans along a row over symbolic vectors: each lane of each vector in flight has a part of the
// row, and the parts are joined behind the sweep.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <span>

#include "ir/row_kind.hpp"
#include "kernels/generated/symbolic.hpp"

namespace rung::generated::rows {

using namespace cpu::symbolic;

inline constexpr float kInfinity = __builtin_inff();

// A place has the largest value so far, and where it is; all others have one variable.
using Variables = std::array<Vec, 2>;
constexpr int variables_of(RowKind kind) { return kind == RowKind::argmax ? 2 : 1; }

// The value of a variable before the first element. All of a row that has nothing above -inf is -inf, so that place 0
// is then right.
constexpr float first_value(RowKind kind, int variable) {
  if (kind == RowKind::product) return 1;
  if (kind == RowKind::min) return kInfinity;
  return (kind == RowKind::max || kind == RowKind::argmax) && variable == 0 ? -kInfinity : 0;
}

// The larger or the smaller value; NaN where either is: the second operand is taken where one is NaN.
RUNG_SIMD Vec largest(Vec sofar, Vec x) { return select(unordered(x, x), x, max(x, sofar)); }
RUNG_SIMD Vec smallest(Vec sofar, Vec x) { return select(unordered(x, x), x, min(x, sofar)); }

RUNG_SIMD Vec joined(RowKind kind, Vec sofar, Vec x) {
  switch (kind) {
    case RowKind::max:
    case RowKind::argmax:
      return largest(sofar, x);
    case RowKind::min:
      return smallest(sofar, x);
    case RowKind::product:
      return sofar * x;
    default:
      return sofar + x;
  }
}

// Takes in the elements of one vector. The first of equal places stays, and a NaN is larger than every number.
RUNG_SIMD Variables with_elements(RowKind kind, const Variables& sofar, Vec x) {
  if (kind != RowKind::argmax) return {joined(kind, sofar[0], x), zero()};
  const Mask larger = not_less_equal(x, sofar[0]) & ordered(sofar[0], sofar[0]);
  const Vec place{recorder().record(Primitive::place_in_row, -1)};
  return {select(larger, x, sofar[0]), select(larger, place, sofar[1])};
}

RUNG_SIMD Vec swap_lanes(Vec x, int places) {
  return {recorder().record(Primitive::swap_lanes, x.step, -1, -1, static_cast<uint32_t>(places))};
}

// Returns the reduction of all lanes, in every lane.
RUNG_SIMD Vec across_lanes(RowKind kind, Vec x) {
  for (int places = lanes_of(recorder().set()) / 2; places > 0; places /= 2) x = joined(kind, x, swap_lanes(x, places));
  return x;
}

// Returns the row's value, in every lane, of the variables of all vectors in flight.
inline Vec total(RowKind kind, std::span<const Variables> parts, int64_t width) {
  Vec all = parts[0][0];
  for (const Variables& part : parts.subspan(1)) all = joined(kind, all, part[0]);
  all = across_lanes(kind, all);
  if (kind == RowKind::mean) return all / set1(static_cast<float>(width));
  if (kind != RowKind::argmax) return all;
  Vec first = set1(kInfinity);
  for (const Variables& part : parts) {
    const Mask is_largest = equal(part[0], all) | (unordered(part[0], part[0]) & unordered(all, all));
    first = min(first, select(is_largest, part[1], set1(kInfinity)));
  }
  return across_lanes(RowKind::min, first);
}

}  // namespace rung::generated::rows
