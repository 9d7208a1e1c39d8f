// Unary, binary, cast and select; integers are computed exactly in i64 and wrap around in their own width.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "reference/operations.hpp"
#include "reference/scalar.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

Result<Tensor> compute_integers(const Binary& op, const Arguments& arguments) {
  auto a = read_integers(broadcast_to(arguments[0], arguments.result.shape));
  auto b = read_integers(broadcast_to(arguments[1], arguments.result.shape));
  if (op.kind == BinaryKind::div && std::find(b.begin(), b.end(), 0) != b.end())
    return fail("integer division by zero");
  for (size_t i = 0; i < a.size(); ++i) a[i] = apply(op.kind, a[i], b[i]);
  return write_integers(arguments.result, a);
}

}  // namespace

Result<Tensor> compute(const Unary& op, const Arguments& arguments) {
  if (!is_float(arguments[0].dtype())) {
    auto x = read_integers(arguments[0]);
    for (int64_t& value : x) value = apply(op.kind, value);
    return write_integers(arguments.result, x);
  }
  auto x = read(arguments[0]);
  for (double& value : x) value = apply(op.kind, value);
  return write(arguments.result, x);
}

Result<Tensor> compute(const Binary& op, const Arguments& arguments) {
  if (!is_float(arguments[0].dtype())) return compute_integers(op, arguments);
  auto a = read(broadcast_to(arguments[0], arguments.result.shape));
  auto b = read(broadcast_to(arguments[1], arguments.result.shape));
  for (size_t i = 0; i < a.size(); ++i) a[i] = apply(op.kind, a[i], b[i]);
  return write(arguments.result, a);
}

Result<Tensor> compute(const Cast& op, const Arguments& arguments) { return convert(arguments[0], op.to); }

Result<Tensor> compute(const Select&, const Arguments& arguments) {
  const Shape& shape = arguments.result.shape;
  Tensor condition = broadcast_to(arguments[0], shape);
  Tensor a = broadcast_to(arguments[1], shape), b = broadcast_to(arguments[2], shape), out(arguments.result);
  size_t bytes = size_of(out.dtype()), at = 0;
  for (bool which : condition.as<bool>()) {
    std::memcpy(out.data() + at, (which ? a : b).data() + at, bytes);
    at += bytes;
  }
  return out;
}

Result<Tensor> compute(const GatedMul& op, const Arguments& arguments) {
  auto gate = read(arguments[0]), up = read(arguments[1]);
  for (size_t i = 0; i < gate.size(); ++i) gate[i] = apply(op.activation, gate[i]) * up[i];
  return write(arguments.result, gate);
}

Result<Tensor> compute(const Rope&, const Arguments& arguments) {
  auto x = read(arguments[0]);
  auto cos = read(broadcast_to(arguments[1], arguments.result.shape));
  auto sin = read(broadcast_to(arguments[2], arguments.result.shape));
  auto width = static_cast<size_t>(arguments.result.shape.back()), half = width / 2;
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    bool low = i % width < half;
    double rotated = low ? -x[i + half] : x[i - half];
    out[i] = x[i] * cos[i] + rotated * sin[i];
  }
  return write(arguments.result, out);
}

}  // namespace rung::reference
