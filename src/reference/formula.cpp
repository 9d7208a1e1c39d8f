// Formulas: element-wise functions that few models call; integers are computed exactly in i64 and wrap around in their
// own width.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/float8.hpp"
#include "ir/function_math.hpp"
#include "reference/operations.hpp"
#include "reference/scalar.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

int none() { return assert(false && "the type rule refuses the type"), 0; }

// The sign is the dividend's; the least integer has no quotient by -1, but a remainder.
int64_t remainder(int64_t x, int64_t y) { return y == -1 ? 0 : x % y; }
// The sign is the divisor's.
int64_t floor_mod(int64_t x, int64_t y) {
  const int64_t rest = remainder(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
double floor_mod(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// By squares, modulo 2^64. A negative exponent gives the whole part of a fraction.
int64_t power(int64_t x, int64_t y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  int64_t result = 1;
  for (; y > 0; y /= 2) {
    if (y % 2 == 1) result = functions::product(result, x);
    x = functions::product(x, x);
  }
  return result;
}

// All bits leave where there are no more than places.
int64_t shifted_left(int64_t x, int64_t places) {
  return places < 0 || places > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << places);
}
int64_t shifted_right(int64_t x, int64_t places) {
  if (places < 0 || places > 63) return x < 0 ? -1 : 0;
  return x >> places;
}

template <class Float>
double narrow(double x) {
  return static_cast<double>(static_cast<float>(Float(static_cast<float>(x))));
}

// `next`: the number that would follow the largest if the format had one. Half way to it the even one of both wins.
template <class Float, int next>
double narrow_or(double x, double otherwise) {
  const double half_way = (narrow<Float>(kInfinity) + next) / 2;
  if (std::isnan(x)) return x;
  if (std::abs(x) > half_way || (std::abs(x) == half_way && Float::kMost % 2 == 1)) return std::copysign(otherwise, x);
  return narrow<Float>(x);
}

// 0, 0.5, 1, 1.5, 2, 3, 4 and 6; there is no NaN, which becomes -0.
double narrow_f4(double x) {
  if (std::isnan(x)) return -0.0;
  const double size = std::min(std::abs(x), 6.0);
  const double unit = size < 2 ? 0.5 : size < 4 ? 1 : 2;
  return std::copysign(std::nearbyint(size / unit) * unit, x);
}

enum class PowerOfTwo : uint8_t { up, down, nearest };

// Returns one of 2^-127 to 2^127, by the size alone; a half way of `nearest` goes up.
double power_of_two(double x, PowerOfTwo way) {
  if (std::isnan(x)) return x;
  const double size = std::clamp(std::abs(x), std::ldexp(1.0, -127), std::ldexp(1.0, 127));
  const double below = std::ldexp(1.0, std::ilogb(size));
  const bool up = way == PowerOfTwo::up ? size > below : way == PowerOfTwo::nearest && size >= 1.5 * below;
  return std::min(up ? 2 * below : below, std::ldexp(1.0, 127));
}

template <class T>
T formula_value(FormulaKind kind, T x, T y) {
  switch (kind) {
#define RUNG_FORMULA(kind, word, operands, takes, f64, integer) \
  case FormulaKind::kind:                                       \
    if constexpr (std::is_same_v<T, double>)                    \
      return f64;                                               \
    else                                                        \
      return integer;
#include "ir/formulas.inc"
  }
  return x;
}

template <class T>
std::vector<T> all(const Formula& op, std::vector<T> x, const std::vector<T>& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] = formula_value(op.kind, x[i], y.empty() ? T{} : y[i]);
  return x;
}

}  // namespace

double apply(FormulaKind kind, double x, double y) { return formula_value(kind, x, y); }

Result<Tensor> compute(const Formula& op, const Arguments& arguments) {
  const auto operand = [&](size_t i) { return broadcast_to(arguments[i], arguments.result.shape); };
  const bool two = arguments.size() > 1;
  if (is_float(arguments.result.dtype))
    return write(arguments.result, all(op, read(operand(0)), two ? read(operand(1)) : std::vector<double>()));
  const auto y = two ? read_integers(operand(1)) : std::vector<int64_t>();
  if (op.divides() && std::ranges::find(y, 0) != y.end()) return fail("integer division by zero");
  return write_integers(arguments.result, all(op, read_integers(operand(0)), y));
}

}  // namespace rung::reference
