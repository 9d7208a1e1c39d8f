// Matrix products and patches, as dot products over contiguous rows converted to f64.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/dot.hpp"
#include "reference/operations.hpp"
#include "reference/scalar.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

using Rows = std::span<const double>;

// Reads the matrix [rows, columns] at element `begin` of a tensor and transposes it.
std::vector<double> read_transposed(const Tensor& tensor, int64_t begin, int64_t rows, int64_t columns) {
  std::vector<double> matrix(size(rows * columns)), transposed(matrix.size());
  read(tensor, begin, matrix);
  for (size_t r = 0; r < size(rows); ++r)
    for (size_t c = 0; c < size(columns); ++c) transposed[c * size(rows) + r] = matrix[r * size(columns) + c];
  return transposed;
}

// Reads row j of w, without its scale: of numbers of 4 bits, and in groups of columns, where the op has them.
void read_weights(const Linear& op, const Arguments& arguments, size_t j, std::vector<double>& row) {
  const Tensor& w = arguments[1];
  const Tensor* scale = op.slots.find(arguments.operands, LinearSlot::group_scale);
  const Tensor* offset = op.slots.find(arguments.operands, LinearSlot::group_offset);
  if (!offset) {
    read(w, static_cast<int64_t>(j * row.size()), row);
  } else {
    const uint8_t* bytes = w.as<uint8_t>().data() + j * row.size() / 2;
    for (size_t i = 0; i < row.size(); ++i) row[i] = (bytes[i / 2] >> (i % 2 * 4) & 15) - 8;
  }
  if (!scale) return;
  const size_t groups = size(scale->shape().back()), group = row.size() / groups;
  for (size_t i = 0; i < row.size(); ++i) {
    const size_t at = j * groups + i / group;
    if (scale->dtype() == DType::f32)
      row[i] = scale->as<float>()[at] * (row[i] + offset->as<int8_t>()[at]);
    else
      row[i] = scale->as<int8_t>()[at] * row[i] + (offset ? 8.0 * offset->as<int8_t>()[at] : 0.0);
  }
}

// Computes out[m, n] = sum over k of x[m, k] * w[n, k]. Converts the weight a row at a time: it may be large.
std::vector<double> multiply_rows(const Linear& op, const Arguments& arguments) {
  const Tensor& x = arguments[0];
  size_t k = size(x.shape().back()), n = size(arguments[1].shape()[0]), m = k ? size(x.elements()) / k : 0;
  auto rows = read(x);
  std::vector<double> out(m * n), row(k);
  for (size_t j = 0; j < n; ++j) {
    read_weights(op, arguments, j, row);
    for (size_t i = 0; i < m; ++i) out[i * n + j] = dot(Rows(rows).subspan(i * k, k), row);
  }
  return out;
}

// Computes the products of the columns beside those of 8 bits, for each row of w; empty: there are none.
std::vector<double> multiply_outliers(const Linear& op, const Arguments& arguments) {
  const Tensor* of_x = op.slots.find(arguments.operands, LinearSlot::x_outliers);
  if (!of_x) return {};
  const std::vector<double> x = read(*of_x), w = read(*op.slots.find(arguments.operands, LinearSlot::w_outliers));
  const size_t count = size(of_x->shape().back()), n = w.size() / count, m = x.size() / count;
  std::vector<double> out(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      out[i * n + j] = dot(Rows(x).subspan(i * count, count), Rows(w).subspan(j * count, count));
  return out;
}

}  // namespace

Result<Tensor> compute(const MatMul&, const Arguments& arguments) {
  const Shape& shape = arguments.result.shape;
  int64_t m = shape.back(1), n = shape.back(), k = arguments[0].shape().back();
  Shape a_shape = shape, b_shape = shape;
  a_shape[shape.rank() - 1] = k, b_shape[shape.rank() - 2] = k;
  Tensor a = broadcast_to(arguments[0], a_shape), b = broadcast_to(arguments[1], b_shape);
  int64_t batches = 1;
  for (int axis = 0; axis < shape.rank() - 2; ++axis) batches *= shape[axis];
  std::vector<double> rows(size(m * k)), out;
  out.reserve(size(arguments.result.elements()));
  for (int64_t batch = 0; batch < batches; ++batch) {
    read(a, batch * m * k, rows);
    auto columns = read_transposed(b, batch * k * n, k, n);
    for (size_t i = 0; i < size(m); ++i)
      for (size_t j = 0; j < size(n); ++j)
        out.push_back(dot(Rows(rows).subspan(i * size(k), size(k)), Rows(columns).subspan(j * size(k), size(k))));
  }
  return write(arguments.result, out);
}

namespace {

// Rotates the first heads of each row of n columns, by the row's angles.
void rotate(std::vector<double>& out, size_t n, size_t heads, const std::array<std::vector<double>, 2>& angles) {
  size_t rows = n ? out.size() / n : 0, width = rows ? angles[0].size() / rows : 0, half = width / 2;
  for (size_t i = 0; i < rows; ++i)
    for (size_t head = 0; head < heads; ++head)
      for (size_t j = 0; j < half; ++j) {
        double &low = out[i * n + head * width + j], &high = out[i * n + head * width + j + half], x = low, y = high;
        const double *cos = &angles[0][i * width + j], *sin = &angles[1][i * width + j];
        low = x * cos[0] - y * sin[0];
        high = y * cos[half] + x * sin[half];
      }
}

// Multiplies the factor of each row's products by what the norm has for it.
void scale_by_norm(std::vector<double>& factors, const Linear& op, const Tensor& squares) {
  size_t columns = size(squares.shape().back());
  std::vector<double> all = read(squares);
  for (size_t row = 0; row < factors.size(); ++row) {
    double sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += all[row * columns + i];
    factors[row] /= std::sqrt(sum / static_cast<double>(columns) + static_cast<double>(op.prologue.eps));
  }
}

// A bias of integers is added to the sums, which the scales then multiply.
void add_to_rows(std::vector<double>& sums, const std::vector<double>& bias) {
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += bias[i % bias.size()];
}

// Returns y of Linear before rounding, row after row.
std::vector<double> unrounded(const Linear& op, const Arguments& arguments) {
  const auto operand = [&](LinearSlot slot) { return op.slots.find(arguments.operands, slot); };
  auto products = multiply_rows(op, arguments);
  const Linear::Epilogue& end = op.epilogue;
  size_t wide = size(arguments[1].shape()[0]), n = wide / (end.gated ? 2 : 1), m = wide ? products.size() / wide : 0;
  std::vector<double> bias(wide), out(m * n), residual, factors(m, 1.0), scale(wide, 1.0);
  if (const Tensor* values = operand(LinearSlot::bias)) read(*values, 0, bias);
  if (const Tensor* values = operand(LinearSlot::residual)) residual = read(*values);
  if (const Tensor* of_x = operand(LinearSlot::x_scale)) factors = read(*of_x);
  if (const Tensor* of_w = operand(LinearSlot::scale)) scale = read(*of_w);
  if (const Tensor* squares = operand(LinearSlot::squares)) scale_by_norm(factors, op, *squares);
  if (const Tensor* values = operand(LinearSlot::bias); values && values->dtype() == DType::i32) {
    add_to_rows(products, bias);
    std::ranges::fill(bias, 0);
  }
  for (size_t i = 0; i < products.size(); ++i) products[i] *= factors[i / wide] * scale[i % wide];
  const std::vector<double> outliers = multiply_outliers(op, arguments);
  for (size_t i = 0; i < outliers.size(); ++i) products[i] += outliers[i];
  for (size_t i = 0; i < out.size(); ++i) {
    size_t row = i / n, j = i % n;
    const double* product = &products[row * wide];
    out[i] = apply(end.activation, product[j] + bias[j]);
    if (end.gated) out[i] *= product[n + j] + bias[n + j];
    if (!residual.empty()) out[i] += residual[i];
    out[i] *= end.factor;
  }
  if (end.rotated_heads > 0)
    rotate(out, n, size(end.rotated_heads), {read(*operand(LinearSlot::cos)), read(*operand(LinearSlot::sin))});
  return out;
}

}  // namespace

Result<Tensor> compute(const Linear& op, const Arguments& arguments) {
  return write_rounded(arguments.result, unrounded(op, arguments));
}

// Computes y times the norm's weights, or the means of y^2 over runs of columns.
Result<Tensor> compute_further(const Linear& op, const Arguments& arguments, size_t i) {
  std::vector<double> y = unrounded(op, arguments);
  if (i == 2) {
    const size_t run = size(op.epilogue.norm_run);
    std::vector<double> means(y.size() / run);
    for (size_t at = 0; at < y.size(); ++at) means[at / run] += y[at] * y[at] / static_cast<double>(run);
    return write(arguments.result, means);
  }
  const std::vector<double> weight = read(*op.slots.find(arguments.operands, LinearSlot::norm_weight));
  for (size_t at = 0; at < y.size(); ++at) y[at] *= weight[at % weight.size()];
  return write_rounded(arguments.result, y);
}

// Returns the windows in row order, channel-major inside: [B, windows, C * height * width].
static std::vector<double> windows_of(const Tensor& image, int64_t height, int64_t width, int64_t stride) {
  const Shape& x = image.shape();
  auto pixels = read(image);
  std::vector<double> out;
  for (int64_t b = 0; b < x[0]; ++b)
    for (int64_t top = 0; top + height <= x[2]; top += stride)
      for (int64_t left = 0; left + width <= x[3]; left += stride)
        for (int64_t c = 0; c < x[1]; ++c)
          for (int64_t i = 0; i < height; ++i)
            for (int64_t j = 0; j < width; ++j)
              out.push_back(pixels[size(((b * x[1] + c) * x[2] + top + i) * x[3] + left + j)]);
  return out;
}

Result<Tensor> compute(const Im2col& op, const Arguments& arguments) {
  return write(arguments.result, windows_of(arguments[0], op.patch, op.patch, op.patch));
}

}  // namespace rung::reference
