// Sums, means, maxima, running sums and the masked mean; integers stay exact.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/operations.hpp"
#include "reference/scalar.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
double larger(double a, double b) { return apply(BinaryKind::max, a, b); }
double plus(double a, double b) { return a + b; }
int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

template <class T>
T reduce_one(ReduceKind kind, const T* x, int64_t length, int64_t stride) {
  if (length == 0) return T{};
  T total = x[0];
  for (int64_t i = 1; i < length; ++i)
    total = kind == ReduceKind::max ? larger(total, x[i * stride]) : plus(total, x[i * stride]);
  return kind == ReduceKind::mean ? total / static_cast<T>(length) : total;
}

template <class T>
std::vector<T> reduce(ReduceKind kind, const std::vector<T>& x, AxisView view) {
  std::vector<T> out;
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n)
      out.push_back(reduce_one(kind, x.data() + o * view.length * view.inner + n, view.length, view.inner));
  return out;
}

template <class T>
void accumulate(std::vector<T>& x, AxisView view) {
  auto inner = static_cast<size_t>(view.inner), length = static_cast<size_t>(view.length);
  for (size_t i = 0; i < x.size(); ++i)
    if (i / inner % length != 0) x[i] = plus(x[i], x[i - inner]);
}

}  // namespace

Result<Tensor> compute(const Reduce& op, const Arguments& arguments) {
  const Shape& shape = arguments[0].shape();
  RUNG_TRY(int axis, normalize_axis(op.axis, shape.rank()));
  AxisView view = view_axis(shape, axis);
  if (!is_float(arguments[0].dtype()))
    return write_integers(arguments.result, reduce(op.kind, read_integers(arguments[0]), view));
  return write(arguments.result, reduce(op.kind, read(arguments[0]), view));
}

namespace {

bool before(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }
bool before(int64_t a, int64_t b) { return a > b; }

// Returns the places of the k largest values of each row, one row after another.
template <class T>
std::vector<int64_t> places_of_largest(const std::vector<T>& x, int64_t width, int64_t k) {
  std::vector<int64_t> places;
  for (auto row = x.begin(); row != x.end(); row += width) {
    std::vector<int64_t> order(static_cast<size_t>(width));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return before(row[a], row[b]); });
    places.insert(places.end(), order.begin(), order.begin() + k);
  }
  return places;
}

template <class T>
std::vector<T> largest(const std::vector<T>& x, int64_t width, int64_t k) {
  const auto places = places_of_largest(x, width, k);
  std::vector<T> values;
  for (size_t i = 0; i < places.size(); ++i)
    values.push_back(x[static_cast<size_t>(static_cast<int64_t>(i) / k * width + places[i])]);
  return values;
}

}  // namespace

Result<Tensor> compute(const TopK& op, const Arguments& arguments) {
  const int64_t width = arguments[0].shape().back();
  if (!is_float(arguments.result.dtype))
    return write_integers(arguments.result, largest(read_integers(arguments[0]), width, op.k));
  return write(arguments.result, largest(read(arguments[0]), width, op.k));
}
// Computes the second result: the places of the k largest values.
Result<Tensor> compute_further(const TopK& op, const Arguments& arguments, size_t) {
  const int64_t width = arguments[0].shape().back();
  if (!is_float(arguments[0].dtype()))
    return write_integers(arguments.result, places_of_largest(read_integers(arguments[0]), width, op.k));
  return write_integers(arguments.result, places_of_largest(read(arguments[0]), width, op.k));
}

Result<Tensor> compute(const CumSum& op, const Arguments& arguments) {
  RUNG_TRY(int axis, normalize_axis(op.axis, arguments.result.shape.rank()));
  AxisView view = view_axis(arguments.result.shape, axis);
  if (!is_float(arguments[0].dtype())) {
    auto x = read_integers(arguments[0]);
    accumulate(x, view);
    return write_integers(arguments.result, x);
  }
  auto x = read(arguments[0]);
  accumulate(x, view);
  return write(arguments.result, x);
}

Result<Tensor> compute(const MaskedMean& op, const Arguments& arguments) {
  const Shape& shape = arguments[0].shape();  // [B, S, D]
  auto x = read(arguments[0]), mask = read(arguments[1]);
  auto length = static_cast<size_t>(shape[1]), width = static_cast<size_t>(shape[2]);
  std::vector<double> out(static_cast<size_t>(arguments.result.elements()));
  for (size_t i = 0; i < out.size(); ++i) {
    size_t batch = i / width, d = i % width;
    double sum = 0, count = 0;
    for (size_t s = 0; s < length; ++s) {
      double m = mask[batch * length + s];
      sum += m * x[(batch * length + s) * width + d];
      count += m;
    }
    out[i] = sum / std::max(count, static_cast<double>(op.eps));
  }
  return write(arguments.result, out);
}

}  // namespace rung::reference
