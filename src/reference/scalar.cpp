// What each element-wise function computes.
// SPDX-License-Identifier: Apache-2.0
#include "reference/scalar.hpp"

#include <cmath>
#include <numbers>

namespace rung::reference {
namespace {

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  double e = std::exp(x);
  return e / (1 + e);
}
double relu(double x) { return x < 0 ? 0.0 : x; }
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh(double x) {
  static const double kSqrtTwoOverPi = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + std::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
}
double max_of(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double min_of(double a, double b) { return std::isnan(a) || a < b ? a : b; }

}  // namespace

double apply(UnaryKind kind, double x) {
  switch (kind) {
    case UnaryKind::neg:
      return -x;
    case UnaryKind::abs:
      return std::abs(x);
    case UnaryKind::exp:
      return std::exp(x);
    case UnaryKind::log:
      return std::log(x);
    case UnaryKind::sqrt:
      return std::sqrt(x);
    case UnaryKind::rsqrt:
      return 1 / std::sqrt(x);
    case UnaryKind::reciprocal:
      return 1 / x;
    case UnaryKind::square:
      return x * x;
    case UnaryKind::sin:
      return std::sin(x);
    case UnaryKind::cos:
      return std::cos(x);
    case UnaryKind::tanh:
      return std::tanh(x);
    case UnaryKind::erf:
      return std::erf(x);
    case UnaryKind::sigmoid:
      return sigmoid(x);
    case UnaryKind::relu:
      return relu(x);
    case UnaryKind::silu:
      return x * sigmoid(x);
    case UnaryKind::gelu:
      return gelu(x);
    case UnaryKind::gelu_tanh:
      return gelu_tanh(x);
    case UnaryKind::logical_not:
      return x == 0;
  }
  return NAN;
}

double apply(BinaryKind kind, double a, double b) {
  switch (kind) {
    case BinaryKind::add:
      return a + b;
    case BinaryKind::sub:
      return a - b;
    case BinaryKind::mul:
      return a * b;
    case BinaryKind::div:
      return a / b;
    case BinaryKind::pow:
      return std::pow(a, b);
    case BinaryKind::max:
      return max_of(a, b);
    case BinaryKind::min:
      return min_of(a, b);
    case BinaryKind::eq:
      return a == b;
    case BinaryKind::ne:
      return a != b;
    case BinaryKind::lt:
      return a < b;
    case BinaryKind::le:
      return a <= b;
    case BinaryKind::gt:
      return a > b;
    case BinaryKind::ge:
      return a >= b;
    case BinaryKind::logical_and:
      return a != 0 && b != 0;
    case BinaryKind::logical_or:
      return a != 0 || b != 0;
  }
  return NAN;
}

double apply(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::tanh:
      return std::tanh(x);
  }
  return NAN;
}

}  // namespace rung::reference
