// Values joined at places by a sum, a product, a mean, the largest or the least.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"
#include "import/pt2/places.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

using Put = NodeId (*)(const Call& call, ScatterKind kind, NodeId x, NodeId updates);

ScatterKind kind_named(const std::string& word) {
  if (word == "sum" || word == "mean") return ScatterKind::add;
  if (word == "prod") return ScatterKind::mul;
  if (word == "amax") return ScatterKind::max;
  if (word == "amin") return ScatterKind::min;
  refuse("reduce: got '{}', wanted sum, prod, mean, amax or amin", word);
}

// The number that a join leaves every other number as it is with, of x's type.
NodeId neutral(const Call& call, ScatterKind kind, NodeId x) {
  const DType dtype = call.dtype(x);
  if (kind == ScatterKind::add || kind == ScatterKind::mul) return call.scalar(kind == ScatterKind::mul, dtype);
  const NodeId least = call.scalar(exported::least_of(dtype), dtype);
  return kind == ScatterKind::max ? least : call.turned(least);
}

// A mean divides the sum by how many there are: integers exactly, floats in f32. Without `include_self` what stands at
// a place that gets a value does not count.
Values joined(const Call& call, Put put, NodeId updates) {
  const std::string word = call.text("reduce", "");
  const ScatterKind kind = kind_named(word);
  const bool include_self = call.flag("include_self", true), is_mean = word == "mean";
  const NodeId x = call.tensor("self");
  if (include_self && !is_mean) return one(put(call, kind, x, updates));
  const DType counted = is_float(call.dtype(x)) ? DType::f32 : call.dtype(x);
  const NodeId none = call.broadcast(call.scalar(0, counted), call.shape(x));
  const NodeId counts = put(call, ScatterKind::add, none, call.scalar(1, counted));
  const NodeId is_met = call.binary(BinaryKind::gt, counts, call.scalar(0, counted));
  const NodeId start = include_self ? x : call.select(is_met, neutral(call, kind, x), x);
  const NodeId all = put(call, kind, start, updates);
  if (!is_mean) return one(all);
  const NodeId own = call.scalar(include_self ? 1 : 0, counted);
  const NodeId divisor = call.clamp(call.binary(BinaryKind::add, counts, own), 1, std::nullopt);
  if (!is_float(counted)) return one(call.rounded_quotient(all, divisor, exported::Rounding::down));
  return one(call.cast(call.binary(BinaryKind::div, call.cast(all, counted), divisor), call.dtype(x)));
}

}  // namespace

Values scatter_reduce(const Call& call) { return joined(call, elements_written, call.tensor("src")); }
Values index_reduce(const Call& call) { return joined(call, rows_written, call.tensor("source")); }

}  // namespace rung::pt2::operators
