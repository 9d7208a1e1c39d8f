// Computes with float64 at import.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/doubles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/exported/inputs.hpp"
#include "import/pt2/operators.hpp"
#include "ir/checked_shape.hpp"
#include "reference/evaluate.hpp"

namespace rung::pt2 {
namespace {

using exported::refuse;
using Known = std::shared_ptr<const Doubles>;

Values known(Doubles values) { return {Value(std::make_shared<const Doubles>(std::move(values)))}; }

bool is_double(const Value& value) {
  if (const auto* list = std::get_if<Values>(&value.is)) return std::ranges::any_of(*list, is_double);
  return std::holds_alternative<Known>(value.is) || std::holds_alternative<Float64>(value.is);
}

Doubles of_tensor(const Call& call, NodeId node, std::string_view name) {
  const auto value = call.value_of(node);
  if (!value)
    refuse(
        "argument '{}': float64 is computed only where it is known at import; wanted float32 where the values of "
        "an input are read (--dtype f32 computes it in f32)",
        name);
  Doubles all{value->shape(), {}};
  if (is_float(value->dtype())) {
    for (float x : convert(*value, DType::f32).as<float>()) all.values.push_back(static_cast<double>(x));
  } else {
    for (int64_t x : convert(*value, DType::i64).as<int64_t>()) all.values.push_back(static_cast<double>(x));
  }
  return all;
}

Doubles doubles_at(const Call& call, std::string_view name) {
  const Value* value = call.find(name);
  if (value && std::holds_alternative<Known>(value->is)) return *std::get<Known>(value->is);
  if (value && value->node()) return of_tensor(call, value->node()->id, name);
  return {{}, {call.number(name)}};
}

Shape sizes_at(const Call& call) {
  const Shape shape = call.dims(call.integers("size"));
  if (!within_limits(shape) || shape.product() > exported::kMostSmall) refuse("float64 of {}", shape);
  return shape;
}

// ---- functions

double negative(double x) { return -x; }
double square(double x) { return x * x; }
double inverse(double x) { return 1 / x; }
double inverse_root(double x) { return 1 / std::sqrt(x); }

struct Function {
  std::string_view name;
  double (*of)(double);
};
constexpr Function kFunctions[] = {
    {"neg", negative},       {"abs", std::fabs},      {"exp", std::exp}, {"log", std::log}, {"sqrt", std::sqrt},
    {"rsqrt", inverse_root}, {"reciprocal", inverse}, {"sin", std::sin}, {"cos", std::cos}, {"square", square},
};

double sum(double a, double b) { return a + b; }
double difference(double a, double b) { return a - b; }
double turned_difference(double a, double b) { return b - a; }
double product(double a, double b) { return a * b; }
double quotient(double a, double b) { return a / b; }

struct Pairing {
  std::string_view name;
  double (*of)(double, double);
};
constexpr Pairing kPairings[] = {{"add", sum},     {"sub", difference}, {"rsub", turned_difference},
                                 {"mul", product}, {"div", quotient},   {"pow", std::pow}};

// The place in x of each element of a shape that x is broadcast to.
size_t place_in(const Doubles& x, const Shape& to, size_t element) {
  const Strides strides = contiguous_strides(to), own = contiguous_strides(x.shape);
  size_t place = 0;
  for (int i = 0; i < x.shape.rank(); ++i) {
    const int axis = to.rank() - x.shape.rank() + i;
    const auto index = static_cast<int64_t>(element) / strides[axis] % to[axis];
    if (x.shape[i] != 1) place += static_cast<size_t>(index * own[i]);
  }
  return place;
}

Values combined(const Doubles& a, const Doubles& b, double (*of)(double, double)) {
  const Shape to = value_or_throw(broadcast(a.shape, b.shape));
  if (to.product() > exported::kMostSmall) refuse("float64 of {}", to);
  Doubles all{to, std::vector<double>(static_cast<size_t>(to.product()))};
  for (size_t i = 0; i < all.values.size(); ++i)
    all.values[i] = of(a.values[place_in(a, to, i)], b.values[place_in(b, to, i)]);
  return known(std::move(all));
}

Values paired(const Call& call, const Pairing& pairing) {
  const bool is_pow = pairing.name == "pow";
  if (call.number("alpha", 1) != 1) refuse("alpha {} in float64", call.number("alpha"));
  if (call.has("rounding_mode")) refuse("a rounded division of float64");
  return combined(doubles_at(call, "self"), doubles_at(call, is_pow ? "exponent" : "other"), pairing.of);
}

// Each element of the first times each of the second.
Values crossed(const Call& call) {
  Doubles a = doubles_at(call, "self");
  const Doubles b = doubles_at(call, "vec2");
  if (a.shape.rank() != 1 || b.shape.rank() != 1) refuse("an outer product of {} and {}", a.shape, b.shape);
  a.shape.push_back(1);
  return combined(a, b, product);
}

// ---- movement: the operator moves the places of the elements, and the elements follow

class Movement {
 public:
  explicit Movement(const Call& call) : call_(call) {}

  Values results(Lower lower) {
    Call::Arguments arguments;
    for (const auto& [name, value] : call_.all()) arguments.emplace_back(name, places_of(value, name));
    const Values results = lower(Call(builder_, "", call_.target(), std::move(arguments)));
    for (const Value& result : results) {
      const Type& type = graph_.type(result.node()->id);
      if (type.elements() > kMost) refuse("float64 of {}, wanted at most {} elements", type.shape, kMost);
      graph_.set_output(fmt::format("{}", graph_.outputs().size()), result.node()->id);
    }
    Values moved;
    for (const Tensor& places : value_or_throw(evaluate(graph_, {}))) {
      Doubles all{places.shape(), {}};
      for (int64_t place : convert(places, DType::i64).as<int64_t>())
        all.values.push_back(values_[static_cast<size_t>(place)]);
      moved.push_back(std::move(known(std::move(all))[0]));
    }
    return moved;
  }

 private:
  static constexpr int64_t kMost = exported::kMostSmall;

  Value places_of(const Value& value, std::string_view name) {
    if (const auto* list = std::get_if<Values>(&value.is)) {
      Values all;
      for (const Value& one : *list) all.push_back(places_of(one, name));
      return Value(std::move(all));
    }
    Doubles from;
    if (const auto* doubles = std::get_if<Known>(&value.is))
      from = **doubles;
    else if (value.node())
      from = of_tensor(call_, value.node()->id, name);
    else
      return value;
    Tensor places({DType::i64, from.shape});
    std::iota(places.as<int64_t>().begin(), places.as<int64_t>().end(), static_cast<int64_t>(values_.size()));
    values_.insert(values_.end(), from.values.begin(), from.values.end());
    return Value(NodeRef{graph_.literal("", places)});
  }

  const Call& call_;
  Graph graph_;  // of the places alone
  GraphBuilder builder_{graph_};
  std::vector<double> values_;  // of all operands, one behind the other
};

constexpr std::string_view kMovements[] = {"view",         "reshape",          "_unsafe_view", "flatten", "unsqueeze",
                                           "squeeze",      "expand",           "slice",        "select",  "cat",
                                           "stack",        "transpose",        "permute",      "t",       "repeat",
                                           "index_select", "meshgrid",         "narrow",       "unbind",  "chunk",
                                           "split",        "repeat_interleave"};
constexpr std::string_view kSame[] = {"clone",      "alias",      "detach",         "detach_",
                                      "contiguous", "lift_fresh", "lift_fresh_copy"};

// ---- creation and conversion

Values counted(const Call& call) {
  const double start = call.number("start", 0), step = call.number("step", 1);
  const double count = step == 0 ? 0 : std::ceil((call.number("end") - start) / step);
  if (!(step != 0 && count <= static_cast<double>(exported::kMostSmall)))
    refuse("a range of {} numbers in float64", count);
  Doubles all{{static_cast<int64_t>(std::max(0.0, count))}, {}};
  for (int64_t i = 0; i < all.shape[0]; ++i) all.values.push_back(start + static_cast<double>(i) * step);
  return known(std::move(all));
}

Values spaced(const Call& call) {
  const int64_t steps = call.integer("steps");
  if (steps > exported::kMostSmall) refuse("{} numbers in equal steps in float64", steps);
  return known({{steps}, evenly_spaced<double>(call.number("start"), call.number("end"), steps)});
}

Values filled(const Shape& shape, double value) {
  return known({shape, std::vector<double>(static_cast<size_t>(shape.product()), value)});
}

// The numbers in a type that the graph has.
NodeId literal(const Call& call, const Doubles& from, DType to) {
  Tensor values({is_float(to) ? DType::f32 : DType::i64, from.shape});
  for (size_t i = 0; i < from.values.size(); ++i) {
    if (is_float(to)) {
      values.as<float>()[i] = static_cast<float>(from.values[i]);
    } else {
      if (!(std::fabs(from.values[i]) < 9e15)) refuse("{} as {}", from.values[i], to);
      values.as<int64_t>()[i] = static_cast<int64_t>(to == DType::boolean ? from.values[i] != 0 : from.values[i]);
    }
  }
  return call.literal(convert(values, to));
}
Values narrowed(const Call& call, DType to) { return one(literal(call, doubles_at(call, "self"), to)); }

Values converted(const Call& call) {
  const Value* dtype = call.find("dtype");
  if (!dtype || std::holds_alternative<Float64>(dtype->is)) return known(doubles_at(call, "self"));
  return narrowed(call, *call.dtype_argument("dtype"));
}

// An argument with f32 in place of float64.
Value in_f32(const Call& call, const Value& value) {
  if (const auto* list = std::get_if<Values>(&value.is)) {
    Values all;
    for (const Value& one : *list) all.push_back(in_f32(call, one));
    return Value(std::move(all));
  }
  if (std::holds_alternative<Float64>(value.is)) return Value(DType::f32);
  if (const auto* doubles = std::get_if<Known>(&value.is)) return Value(NodeRef{literal(call, **doubles, DType::f32)});
  return value;
}

// A number of float64 without axes counts as a Python number beside a tensor of floats: the result has the tensor's
// type.
std::optional<Call> beside_a_tensor(const Call& call) {
  bool has_tensor = false;
  Call::Arguments arguments = call.all();
  for (auto& [name, value] : arguments) {
    if (value.node()) has_tensor |= call.rank(value.node()->id) > 0 && is_float(call.dtype(value.node()->id));
    const auto* doubles = std::get_if<Known>(&value.is);
    if (!doubles) continue;
    if ((*doubles)->shape.rank() > 0) return std::nullopt;
    value = Value((*doubles)->values[0]);
  }
  return has_tensor ? std::optional(call.with(std::move(arguments))) : std::nullopt;
}

}  // namespace

bool takes_doubles(const Call& call) {
  return std::ranges::any_of(call.all(), [](const auto& argument) { return is_double(argument.second); });
}

Values in_doubles(const Call& call) {
  const std::string_view name = base_name(call.target());
  if (name.starts_with("_assert")) return {};
  if (name == "to" || name == "_to_copy") return converted(call);
  if (std::ranges::find(kSame, name) != std::end(kSame)) return {*call.find("self")};
  if (name == "type_as") return narrowed(call, call.dtype(call.tensor("other")));
  if (name == "item") return {Value(doubles_at(call, "self").values.at(0))};
  if (name == "arange") return counted(call);
  if (name == "linspace") return spaced(call);
  if (name == "scalar_tensor") return filled({}, call.number("s"));
  if (name == "outer") return crossed(call);
  if (name == "full") return filled(sizes_at(call), call.number("fill_value"));
  if (name == "ones" || name == "zeros") return filled(sizes_at(call), name == "ones");
  if (const auto* function = std::ranges::find(kFunctions, name, &Function::name); function != std::end(kFunctions)) {
    Doubles all = doubles_at(call, "self");
    for (double& x : all.values) x = function->of(x);
    return known(std::move(all));
  }
  if (const auto* pairing = std::ranges::find(kPairings, name, &Pairing::name); pairing != std::end(kPairings)) {
    const auto call_of_numbers = beside_a_tensor(call);
    return call_of_numbers ? operator_named(call.target())(*call_of_numbers) : paired(call, *pairing);
  }
  if (std::ranges::find(kMovements, name) != std::end(kMovements))
    return Movement(call).results(operator_named(call.target()));
  refuse("float64 in this operator, wanted float32");
}

Values in_doubles_or_f32(const Call& call) {
  try {
    return in_doubles(call);
  } catch (const std::out_of_range&) {  // not known at import, too large, or by an operator that has no float64
    Call::Arguments arguments;
    for (const auto& [name, value] : call.all()) arguments.emplace_back(name, in_f32(call, value));
    const Lower lower = operator_named(call.target());
    if (!lower) throw;
    return lower(call.with(std::move(arguments)));
  }
}

}  // namespace rung::pt2
