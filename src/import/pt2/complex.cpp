// Arithmetic and movement of complex numbers.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/complex.hpp"

#include <algorithm>

#include "import/pt2/aliases.hpp"
#include "import/pt2/operators.hpp"

namespace rung::pt2 {
namespace {

using exported::Complex;
using exported::refuse;

bool is_complex(const Value& value) {
  if (const auto* list = std::get_if<Values>(&value.is)) return std::ranges::any_of(*list, is_complex);
  return std::holds_alternative<Complex>(value.is) || std::holds_alternative<Complex64>(value.is);
}

// Parts are computed in f32, as complex64 has them.
NodeId in_f32(const Call& call, NodeId x) { return call.cast(x, DType::f32); }

struct Arithmetic {
  const Call& call;
  NodeId binary(BinaryKind kind, NodeId a, NodeId b) const { return call.binary(kind, a, b); }
  NodeId mul(NodeId a, NodeId b) const { return binary(BinaryKind::mul, a, b); }
  Complex scaled(const Complex& x, BinaryKind kind, NodeId by) const {
    return each_part(x, [&](NodeId part) { return binary(kind, part, by); });
  }
  Complex product(const Complex& a, const Complex& b) const {
    if (!b.imaginary) return scaled(a, BinaryKind::mul, b.real);
    if (!a.imaginary) return scaled(b, BinaryKind::mul, a.real);
    return {binary(BinaryKind::sub, mul(a.real, b.real), mul(*a.imaginary, *b.imaginary)),
            binary(BinaryKind::add, mul(a.real, *b.imaginary), mul(*a.imaginary, b.real))};
  }
  NodeId squared_length(const Complex& x) const {
    const NodeId square = call.unary(UnaryKind::square, x.real);
    return x.imaginary ? binary(BinaryKind::add, square, call.unary(UnaryKind::square, *x.imaginary)) : square;
  }
  Complex conjugate(const Complex& x) const {
    return {x.real, x.imaginary ? std::optional(call.unary(UnaryKind::neg, *x.imaginary)) : std::nullopt};
  }
};

Values given(const Complex& x) { return {Value(x)}; }

Complex operand(const Call& call, std::string_view name) {
  const Value* value = call.find(name);
  if (value && (value->node() || is_complex(*value))) return complex_at(call, name);
  return {call.scalar(call.number(name), DType::f32), std::nullopt};
}

// self + alpha other, or their difference.
Values sum(const Call& call, BinaryKind kind) {
  const Arithmetic of{call};
  const Complex a = operand(call, "self");
  const Complex b =
      each_part(operand(call, "other"), [&](NodeId part) { return call.scale(part, call.number("alpha", 1)); });
  const NodeId real = of.binary(kind, a.real, b.real);
  const NodeId imaginary = of.binary(kind, imaginary_of(call, a), imaginary_of(call, b));
  return given({real, call.broadcast(imaginary, call.shape(real))});
}
Values added(const Call& call) { return sum(call, BinaryKind::add); }
Values subtracted(const Call& call) { return sum(call, BinaryKind::sub); }

Values multiplied(const Call& call) {
  return given(Arithmetic{call}.product(operand(call, "self"), operand(call, "other")));
}
Values divided(const Call& call) {
  const Arithmetic of{call};
  const Complex a = operand(call, "self"), b = operand(call, "other");
  if (!b.imaginary) return given(of.scaled(a, BinaryKind::div, b.real));
  return given(of.scaled(of.product(a, of.conjugate(b)), BinaryKind::div, of.squared_length(b)));
}
Values squared(const Call& call) {
  const Complex x = complex_at(call, "self");
  return given(Arithmetic{call}.product(x, x));
}
Values inverted(const Call& call) {
  const Arithmetic of{call};
  const Complex x = complex_at(call, "self");
  return given(of.scaled(of.conjugate(x), BinaryKind::div, of.squared_length(x)));
}
Values subtracted_from(const Call& call) {
  const Arithmetic of{call};
  const Complex a = operand(call, "self"), b = operand(call, "other");
  const NodeId real = of.binary(BinaryKind::sub, b.real, a.real);
  const NodeId imaginary = of.binary(BinaryKind::sub, imaginary_of(call, b), imaginary_of(call, a));
  return given({real, call.broadcast(imaginary, call.shape(real))});
}
Values raised(const Call& call) {
  if (call.number("exponent") != 2) refuse("complex numbers to the power of {}, wanted 2", call.number("exponent"));
  return squared(call);
}
Values lengths(const Call& call) {
  return one(call.unary(UnaryKind::sqrt, Arithmetic{call}.squared_length(complex_at(call, "self"))));
}
Values same(const Call& call) {
  if (const Value* type = call.find("dtype"); type && !is_complex(*type))
    refuse("complex numbers as {}, which would drop their imaginary parts", describe(*type));
  return given(complex_at(call, "self"));
}

struct OfWhole {
  std::string_view name;
  Lower lower;
};
// Operators that are not the same function of each part.
constexpr OfWhole kOfWhole[] = {
    {"add", added},
    {"sub", subtracted},
    {"mul", multiplied},
    {"div", divided},
    {"square", squared},
    {"pow", raised},
    {"abs", lengths},
    {"to", same},
    {"_to_copy", same},
    {"reciprocal", inverted},
    {"rsub", subtracted_from},
    {"exp", complex_exp},
    {"matmul", complex_product},
    {"linalg_matmul", complex_product},
    {"mm", complex_product},
    {"bmm", complex_product},
    {"mv", complex_product},
    {"dot", complex_product},
    {"outer", complex_product},
    {"einsum", complex_product},
    {"zeros", complex_filled},
    {"zeros_like", complex_filled},
    {"ones", complex_filled},
    {"ones_like", complex_filled},
    {"new_zeros", complex_filled},
    {"new_ones", complex_filled},
    {"full", complex_filled},
};

constexpr std::string_view kPartwise[] = {"_unsafe_view",
                                          "alias",
                                          "cat",
                                          "chunk",
                                          "clone",
                                          "constant_pad_nd",
                                          "contiguous",
                                          "copy",
                                          "detach",
                                          "expand",
                                          "expand_as",
                                          "flatten",
                                          "flip",
                                          "gather",
                                          "index",
                                          "index_add",
                                          "index_copy",
                                          "index_put",
                                          "index_select",
                                          "mean",
                                          "movedim",
                                          "narrow",
                                          "neg",
                                          "pad",
                                          "permute",
                                          "repeat",
                                          "reshape",
                                          "roll",
                                          "scatter_add",
                                          "select",
                                          "select_scatter",
                                          "slice",
                                          "slice_scatter",
                                          "split",
                                          "split_with_sizes",
                                          "squeeze",
                                          "stack",
                                          "sum",
                                          "t",
                                          "transpose",
                                          "unbind",
                                          "unflatten",
                                          "unfold",
                                          "unsqueeze",
                                          "view",
                                          "view_as",
                                          "where"};
// Arguments that are numbers in all of these: a tensor of real numbers has imaginary parts of 0. Others are indices,
// conditions and sizes, which both parts share.
constexpr std::string_view kNumbers[] = {"self", "other", "src", "source", "values"};

// An argument's real or imaginary parts.
Value part_of(const Call& call, const Value& value, bool imaginary) {
  if (const auto* list = std::get_if<Values>(&value.is)) {
    Values parts;
    const bool any = is_complex(value);
    for (const Value& item : *list) {
      const bool is_real = imaginary && any && item.node();
      parts.push_back(is_real ? part_of(call, Value(Complex{item.node()->id, {}}), true)
                              : part_of(call, item, imaginary));
    }
    return Value(std::move(parts));
  }
  const auto* x = std::get_if<Complex>(&value.is);
  if (!x) return value;
  return Value(NodeRef{imaginary ? imaginary_of(call, *x) : x->real});
}

Values of_each_part(const Call& call) {
  const Lower lower = operator_named(call.target());
  const auto parts = [&](bool imaginary) {
    Call::Arguments arguments = call.all();
    // Imaginary parts are padded with zeros, whatever real ones are padded with.
    if (imaginary) std::erase_if(arguments, [](const auto& argument) { return argument.first == "value"; });
    for (auto& [name, value] : arguments) {
      const bool is_number = std::ranges::find(kNumbers, name) != std::end(kNumbers);
      if (imaginary && is_number && value.node()) value = Value(Complex{in_f32(call, value.node()->id), {}});
      value = part_of(call, value, imaginary);
    }
    return lower(call.with(std::move(arguments)));
  };
  const Values real = parts(false), imaginary = parts(true);
  Values results;
  for (size_t i = 0; i < real.size(); ++i)
    results.emplace_back(Complex{real[i].node()->id, imaginary.at(i).node()->id});
  return results;
}

}  // namespace

bool takes_complex(const Call& call) {
  return std::ranges::any_of(call.all(), [](const auto& argument) { return is_complex(argument.second); });
}

Values in_complex(const Call& call) {
  std::string_view name = base_name(call.target());
  if (is_in_place(call.target())) name.remove_suffix(1);
  if (const auto* function = std::ranges::find(kOfWhole, name, &OfWhole::name); function != std::end(kOfWhole))
    return function->lower(call);
  if (std::ranges::find(kPartwise, name) != std::end(kPartwise)) return of_each_part(call);
  return operator_named(call.target())(call);  // takes complex numbers itself, or refuses them by the argument's name
}

Complex complex_at(const Call& call, std::string_view name) {
  const Value* value = call.find(name);
  if (value)
    if (const auto* x = std::get_if<Complex>(&value->is)) return *x;
  return {in_f32(call, call.tensor(name)), std::nullopt};
}

NodeId imaginary_of(const Call& call, const Complex& x) {
  return x.imaginary ? *x.imaginary : call.broadcast(call.scalar(0, call.dtype(x.real)), call.shape(x.real));
}

NodeId joined(const Call& call, const Complex& x) {
  return call.concat({call.unsqueeze(x.real, -1), call.unsqueeze(imaginary_of(call, x), -1)}, -1);
}

namespace operators {

// These three of real numbers are the numbers.
Values real(const Call& call) { return one(takes_complex(call) ? complex_at(call, "self").real : call.tensor("self")); }
Values conj(const Call& call) {
  if (!takes_complex(call)) return one(call.tensor("self"));
  return given(Arithmetic{call}.conjugate(complex_at(call, "self")));
}
Values resolved(const Call& call) {
  return takes_complex(call) ? given(complex_at(call, "self")) : one(call.tensor("self"));
}

Values imag(const Call& call) { return one(imaginary_of(call, complex_at(call, "self"))); }
Values view_as_real(const Call& call) { return one(joined(call, complex_at(call, "self"))); }
Values angle(const Call& call) {
  const Complex x = complex_at(call, "self");
  return one(call.add(Formula{FormulaKind::atan2}, {imaginary_of(call, x), x.real}));
}

Values view_as_complex(const Call& call) {
  const NodeId x = in_f32(call, call.tensor("self"));
  if (call.rank(x) < 1 || call.shape(x).back() != 2) refuse("parts in {}, wanted a last axis of two", call.type(x));
  return given({call.select_index(x, -1, 0), call.select_index(x, -1, 1)});
}
Values complex(const Call& call) {
  const NodeId a = in_f32(call, call.tensor("real")), b = in_f32(call, call.tensor("imag"));
  const Shape both = call.shape(call.binary(BinaryKind::add, a, b));
  return given({call.broadcast(a, both), call.broadcast(b, both)});
}
Values polar(const Call& call) {
  const NodeId length = in_f32(call, call.tensor("abs")), angle = in_f32(call, call.tensor("angle"));
  return given({call.binary(BinaryKind::mul, length, call.unary(UnaryKind::cos, angle)),
                call.binary(BinaryKind::mul, length, call.unary(UnaryKind::sin, angle))});
}

}  // namespace operators

}  // namespace rung::pt2
