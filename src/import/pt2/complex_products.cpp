// Products and functions of complex numbers.
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "import/pt2/complex.hpp"

namespace rung::pt2 {
namespace {

using exported::Complex;
using exported::refuse;

constexpr size_t kMostFactors = 4;

// Calls `visit` with each complex number among the arguments, those of lists included.
template <class Visit>
void each_complex(Call::Arguments& arguments, Visit visit) {
  for (auto& [name, value] : arguments) {
    if (std::holds_alternative<Complex>(value.is)) visit(value);
    if (auto* list = std::get_if<Values>(&value.is))
      for (Value& item : *list)
        if (std::holds_alternative<Complex>(item.is)) visit(item);
  }
}

// The call's result for the parts that the bits of `imaginary` choose, a bit for each complex argument.
NodeId product_of_parts(const Call& call, unsigned imaginary) {
  Call::Arguments arguments = call.all();
  unsigned bit = 1;
  each_complex(arguments, [&](Value& value) {
    const Complex x = std::get<Complex>(value.is);
    value = Value(NodeRef{(imaginary & bit) != 0 ? imaginary_of(call, x) : x.real});
    bit <<= 1;
  });
  return operator_named(call.target())(call.with(std::move(arguments))).at(0).node()->id;
}

}  // namespace

// (a + bi)(c + di)... multiplied out: a product of m imaginary parts counts i^m times.
Values complex_product(const Call& call) {
  Call::Arguments arguments = call.all();
  size_t factors = 0;
  each_complex(arguments, [&](Value&) { ++factors; });
  if (factors < 1 || factors > kMostFactors)
    refuse("a product of {} complex tensors, wanted 1 to {}", factors, kMostFactors);
  std::optional<NodeId> real, imaginary;
  for (unsigned chosen = 0; chosen < 1U << factors; ++chosen) {
    const int power = std::popcount(chosen) % 4;
    std::optional<NodeId>& sum = power % 2 == 0 ? real : imaginary;
    NodeId term = product_of_parts(call, chosen);
    if (power >= 2) term = call.unary(UnaryKind::neg, term);
    sum = sum ? call.binary(BinaryKind::add, *sum, term) : term;
  }
  return {Value(Complex{*real, imaginary})};
}

// exp(a + bi) = exp(a) (cos b + i sin b)
Values complex_exp(const Call& call) {
  const Complex x = complex_at(call, "self");
  const NodeId length = call.unary(UnaryKind::exp, x.real);
  if (!x.imaginary) return {Value(Complex{length, std::nullopt})};
  return {Value(Complex{call.binary(BinaryKind::mul, length, call.unary(UnaryKind::cos, *x.imaginary)),
                        call.binary(BinaryKind::mul, length, call.unary(UnaryKind::sin, *x.imaginary))})};
}

// Zeros, ones or a number as complex numbers without imaginary parts.
Values complex_filled(const Call& call) {
  Call::Arguments arguments = call.all();
  const Value* dtype = call.find("dtype");
  const bool is_real = dtype && !std::holds_alternative<Complex64>(dtype->is);  // like complex numbers, of another type
  for (auto& [name, value] : arguments) {
    if (std::holds_alternative<Complex64>(value.is)) value = Value(DType::f32);
    if (const auto* like = std::get_if<Complex>(&value.is)) value = Value(NodeRef{like->real});
  }
  Values real = operator_named(call.target())(call.with(std::move(arguments)));
  if (is_real) return real;
  const Complex numbers{real.at(0).node()->id, std::nullopt};
  return {Value(Complex{numbers.real, imaginary_of(call, numbers)})};
}

}  // namespace rung::pt2
