// The reductions and scans along a row over symbolic vectors: each lane of each vector in flight has a part of the
// row, and the parts are joined behind the sweep.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <span>
#include <vector>

#include "ir/row_kind.hpp"
#include "kernels/generated/symbolic.hpp"

namespace rung::generated::rows {

using namespace cpu::symbolic;

inline constexpr float kInfinity = __builtin_inff();

// A reduction; an extreme may lose NaN if lost_nan.hpp says so.
struct Reducing {
  RowKind kind = RowKind::sum;
  bool may_lose_nan = false;
};

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

RUNG_SIMD Vec joined(const Reducing& reducing, Vec sofar, Vec x) {
  switch (reducing.kind) {
    case RowKind::max:
      return reducing.may_lose_nan ? max(sofar, x) : largest(sofar, x);
    case RowKind::min:
      return reducing.may_lose_nan ? min(sofar, x) : smallest(sofar, x);
    case RowKind::product:
      return sofar * x;
    default:
      return sofar + x;
  }
}

// Takes in the elements of one vector. The first of equal places stays, and a NaN is larger than every number.
inline Variables with_elements(const Reducing& reducing, const Variables& sofar, Vec x) {
  if (reducing.kind != RowKind::argmax) return {joined(reducing, sofar[0], x), zero()};
  const Mask larger = not_less_equal(x, sofar[0]) & ordered(sofar[0], sofar[0]);
  const Vec place{recorder().record(Primitive::place_in_row, -1)};
  return {select(larger, x, sofar[0]), select(larger, place, sofar[1])};
}

RUNG_SIMD Vec swap_lanes(Vec x, int places) {
  return {recorder().record(Primitive::swap_lanes, x.step, -1, -1, static_cast<uint32_t>(places))};
}

constexpr float neutral(ScanKind kind) { return kind == ScanKind::product ? 1 : 0; }

// Returns the scan of the lanes, going on from `before`, the scan's value at the element before them.
inline Vec scanned(ScanKind kind, Vec x, Vec before) {
  const auto join = [=](Vec a, Vec b) { return kind == ScanKind::sum ? a + b : a * b; };
  for (int places = 1; places < lanes_of(recorder().set()); places *= 2) {
    const Vec none = set1(neutral(kind));
    x = join(x, {recorder().record(Primitive::lanes_up, x.step, none.step, -1, static_cast<uint32_t>(places))});
  }
  return join(x, before);
}

// Joins the vectors two by two, then the lanes of what is left; the result stands in every lane.
template <class Join>
Vec joined_lanes(std::vector<Vec> parts, const Join& join) {
  while (parts.size() > 1) {
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      parts[i] = join(parts[i], parts[i + 1]);
      parts.erase(parts.begin() + static_cast<ptrdiff_t>(i) + 1);
    }
  }
  for (int places = lanes_of(recorder().set()) / 2; places > 0; places /= 2)
    parts[0] = join(parts[0], swap_lanes(parts[0], places));
  return parts[0];
}

// The chain of an extreme is shorter without NaN, whose own chain runs beside it: 0 without one.
inline Vec extreme(RowKind kind, const std::vector<Vec>& parts) {
  std::vector<Vec> holes;
  for (Vec part : parts) holes.push_back(select(unordered(part, part), part, zero()));
  const Vec hole = joined_lanes(holes, [](Vec a, Vec b) { return a + b; });
  const bool smallest_wins = kind == RowKind::min;
  return hole + joined_lanes(parts, [=](Vec a, Vec b) { return smallest_wins ? min(a, b) : max(a, b); });
}

// Returns the row's value, in every lane, of the variables of all vectors in flight.
inline Vec total(const Reducing& reducing, std::span<const Variables> parts, int64_t width) {
  const RowKind kind = reducing.kind;
  std::vector<Vec> values;
  for (const Variables& part : parts) values.push_back(part[0]);
  if ((kind == RowKind::max || kind == RowKind::min) && !reducing.may_lose_nan) return extreme(kind, values);
  if (kind != RowKind::argmax) {
    const Vec all = joined_lanes(values, [=](Vec a, Vec b) { return joined(reducing, a, b); });
    return kind == RowKind::mean ? all / set1(static_cast<float>(width)) : all;
  }
  const Vec all = extreme(kind, values);
  std::vector<Vec> places;
  for (const Variables& part : parts) {
    const Mask is_largest = equal(part[0], all) | (unordered(part[0], part[0]) & unordered(all, all));
    places.push_back(select(is_largest, part[1], set1(kInfinity)));
  }
  return joined_lanes(places, [](Vec a, Vec b) { return min(a, b); });
}

}  // namespace rung::generated::rows
