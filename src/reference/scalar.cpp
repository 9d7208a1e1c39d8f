// Computes each element-wise function.
// SPDX-License-Identifier: Apache-2.0
#include "reference/scalar.hpp"

#include <cassert>
#include <cmath>
#include <numbers>

#include "ir/function_math.hpp"
#include "ir/functions.hpp"

namespace rung::reference {
namespace {

using namespace functions;

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  double e = std::exp(x);
  return e / (1 + e);
}
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh(double x) {
  static const double kSqrtTwoOverPi = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + std::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
}

int64_t unsupported() {
  assert(false && "the type rule refuses integers");
  return 0;
}
constexpr auto divide = quotient;  // callers have refused divisors of zero

}  // namespace

double apply(UnaryKind kind, double x) {
  switch (kind) {
#define RUNG_UNARY(kind, word, takes, use, f64, f32, integer) \
  case UnaryKind::kind:                                       \
    return f64;
#include "ir/functions.inc"
  }
  return NAN;
}

double apply(BinaryKind kind, double x, double y) {
  switch (kind) {
#define RUNG_BINARY(kind, word, takes, infinity, order, use, f64, f32, integer) \
  case BinaryKind::kind:                                                        \
    return f64;
#include "ir/functions.inc"
  }
  return NAN;
}

int64_t apply(UnaryKind kind, int64_t x) {
  switch (kind) {
#define RUNG_UNARY(kind, word, takes, use, f64, f32, integer) \
  case UnaryKind::kind:                                       \
    return integer;
#include "ir/functions.inc"
  }
  return 0;
}

int64_t apply(BinaryKind kind, int64_t x, int64_t y) {
  switch (kind) {
#define RUNG_BINARY(kind, word, takes, infinity, order, use, f64, f32, integer) \
  case BinaryKind::kind:                                                        \
    return integer;
#include "ir/functions.inc"
  }
  return 0;
}

double apply(Activation activation, double x) {
  const auto kind = unary_of(activation);
  return kind ? apply(*kind, x) : x;
}

}  // namespace rung::reference
