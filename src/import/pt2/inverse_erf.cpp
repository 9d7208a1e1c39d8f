// The inverse of the error function, by two polynomials.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

// Fitted by least squares at Chebyshev's nodes for this file: erfinv(x) / x where w = -log(1 - x^2) is below 5, in
// powers of w - 2.5, and beyond it, in powers of sqrt(w) - 3.2. The largest relative error, in f32, is 2e-7.
constexpr double kSplit = 5, kCentre = 2.5, kTail = 3.2;
constexpr std::array kNear{1.50140936,     0.246640278,    -0.00417738847, -0.00125272523, 0.000218345887,
                           -4.97306968e-6, -3.46309306e-6, 4.68266973e-7,  2.32648e-8,     -8.94141408e-9};
constexpr std::array kFar{3.03363655,     1.00469263,    0.00597491322,   -0.00429738431,  0.00293357172,
                          -0.00197795559, 0.00113923962, -0.000385143241, -0.000103131433, 0.000114972575};

class Polynomials {
 public:
  explicit Polynomials(const Call& call) : call_(call) {}

  // 1 and -1 give the infinities, as the last coefficient of kFar is positive; beyond them is NaN.
  NodeId erfinv(NodeId x) const {
    const NodeId product = mul(call_.binary(BinaryKind::sub, number(1), x), plus(x, 1));
    const NodeId w = call_.unary(UnaryKind::neg, call_.unary(UnaryKind::log, product));
    const NodeId near = of(kNear, plus(w, -kCentre));
    const NodeId far = of(kFar, plus(call_.unary(UnaryKind::sqrt, w), -kTail));
    return mul(call_.select(call_.binary(BinaryKind::lt, w, number(kSplit)), near, far), x);
  }
  NodeId mul(NodeId a, NodeId b) const { return call_.binary(BinaryKind::mul, a, b); }
  NodeId plus(NodeId x, double value) const { return call_.binary(BinaryKind::add, x, number(value)); }
  NodeId number(double value) const { return call_.scalar(value, DType::f32); }

 private:
  NodeId of(const std::array<double, 10>& coefficients, NodeId t) const {
    NodeId sum = number(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) sum = plus(mul(sum, t), coefficients[i]);
    return sum;
  }

  const Call& call_;
};

}  // namespace

Values erfinv(const Call& call) {
  const NodeId x = call.in_floats(call.tensor("self"));
  return one(call.cast(Polynomials(call).erfinv(call.cast(x, DType::f32)), call.dtype(x)));
}

// The number below which a normal distribution has a share of x: sqrt(2) erfinv(2 x - 1).
Values ndtri(const Call& call) {
  const NodeId x = call.in_floats(call.tensor("self"));
  const Polynomials of(call);
  const NodeId side = of.plus(of.mul(call.cast(x, DType::f32), of.number(2)), -1);
  return one(call.cast(of.mul(of.erfinv(side), of.number(1.4142135623730951)), call.dtype(x)));
}

}  // namespace rung::pt2::operators
