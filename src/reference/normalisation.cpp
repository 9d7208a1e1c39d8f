// Softmax along any axis, and normalisations over the last axis; statistics are in f64.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/operations.hpp"
#include "reference/softmax.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

using Row = std::span<double>;

// Calls f on each row of the last axis.
template <class F>
void for_each_row(std::vector<double>& values, int64_t width, F&& f) {
  auto step = static_cast<size_t>(width);
  for (size_t at = 0; at < values.size(); at += step) f(Row(values).subspan(at, step));
}

double mean_square(Row row) {
  return std::inner_product(row.begin(), row.end(), row.begin(), 0.0) / static_cast<double>(row.size());
}

}  // namespace

Result<Tensor> compute(const Softmax& op, const Arguments& arguments) {
  RUNG_TRY(int axis, normalize_axis(op.axis, arguments.result.shape.rank()));
  AxisView view = view_axis(arguments.result.shape, axis);
  auto x = read(arguments[0]);
  std::vector<double> row(static_cast<size_t>(view.length));
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n) {
      auto at = [&](size_t i) -> double& {
        return x[static_cast<size_t>((o * view.length + static_cast<int64_t>(i)) * view.inner + n)];
      };
      for (size_t i = 0; i < row.size(); ++i) row[i] = at(i);
      softmax(row);
      for (size_t i = 0; i < row.size(); ++i) at(i) = row[i];
    }
  return write(arguments.result, x);
}

Result<Tensor> compute(const LayerNorm& op, const Arguments& arguments) {
  auto x = read(arguments[0]);
  const auto operand = [&](LayerNormSlot slot) { return op.slots.find(arguments.operands, slot); };
  if (const Tensor* values = operand(LayerNormSlot::residual)) {
    auto residual = read(*values);
    for (size_t i = 0; i < x.size(); ++i) x[i] += residual[i];
  }
  auto weight = read(*operand(LayerNormSlot::weight)), bias = read(*operand(LayerNormSlot::bias));
  for_each_row(x, arguments.result.shape.back(), [&](Row row) {
    double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
    for (double& value : row) value -= mean;
    double scale = 1 / std::sqrt(mean_square(row) + op.eps);
    for (size_t i = 0; i < row.size(); ++i) row[i] = row[i] * scale * weight[i] + bias[i];
  });
  return write_rounded(arguments.result, x);
}

Result<Tensor> compute(const RmsNorm& op, const Arguments& arguments) {
  auto x = read(arguments[0]), weight = read(arguments[1]);
  for_each_row(x, arguments.result.shape.back(), [&](Row row) {
    double scale = 1 / std::sqrt(mean_square(row) + op.eps);
    for (size_t i = 0; i < row.size(); ++i) row[i] *= scale * (op.weight_offset + weight[i]);
  });
  return write_rounded(arguments.result, x);
}

// A group's elements stand in runs, one at each place.
Result<Tensor> compute(const GroupNorm& op, const Arguments& arguments) {
  auto x = read(arguments[0]);
  const Shape& shape = arguments.result.shape;
  const size_t batches = size(shape[0]), channels = size(shape.back()), run = channels / size(op.groups);
  const size_t places = x.size() / std::max<size_t>(1, batches * channels);
  std::vector<double> group(places * run);
  for (size_t at = 0; at < batches * size(op.groups); ++at) {
    const size_t first = at / size(op.groups) * places * channels + at % size(op.groups) * run;
    const auto element = [&](size_t i) -> double& { return x[first + i / run * channels + i % run]; };
    for (size_t i = 0; i < group.size(); ++i) group[i] = element(i);
    const double mean = std::accumulate(group.begin(), group.end(), 0.0) / static_cast<double>(group.size());
    for (double& value : group) value -= mean;
    const double scale = 1 / std::sqrt(mean_square(group) + op.eps);
    for (size_t i = 0; i < group.size(); ++i) element(i) = group[i] * scale;
  }
  return write(arguments.result, x);
}

Result<Tensor> compute(const L2Normalize& op, const Arguments& arguments) {
  auto x = read(arguments[0]);
  for_each_row(x, arguments.result.shape.back(), [&](Row row) {
    double norm = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    double length = norm < op.eps ? static_cast<double>(op.eps) : norm;  // a NaN stays NaN
    for (double& value : row) value /= length;
  });
  return write(arguments.result, x);
}

}  // namespace rung::reference
