// Converts products between our form and BLAS's, checks them, and writes them as text.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/gemm_shape.hpp"

#include <algorithm>
#include <cctype>

namespace rung::stacks {
namespace {

GemmLayout layout_of(bool transpose_w, bool transpose_x) {
  if (transpose_w) return transpose_x ? GemmLayout::tt : GemmLayout::tn;
  return transpose_x ? GemmLayout::nt : GemmLayout::nn;
}

bool is_transposed(char letter) { return letter != 'N' && letter != 'n'; }

// The most elements of an operand: 64 bits can address this many of the widest type.
constexpr int64_t kMostElements = int64_t{1} << 58;

Status check_operand(const char* name, int64_t rows, int64_t dense, int64_t stride, int64_t batch) {
  // With a single row the stride is never used, and PyTorch writes 1 there.
  if (stride < 0 || (stride != 0 && stride < dense && rows > 1))
    return mismatch("{}_stride: got {}, wanted 0 or at least {}", name, stride, dense);
  const int64_t row = std::max(stride, dense);
  if (rows > kMostElements / row || rows * row > kMostElements / batch)
    return mismatch("{}: got {} x {} x {} elements, wanted at most 2^58", name, batch, rows, row);
  return {};
}

std::string types_text(const GemmShape& shape) {
  if (shape.x == shape.w && shape.x == shape.out) return std::string(name_of(shape.x));
  return fmt::format("x={} w={} out={}", name_of(shape.x), name_of(shape.w), name_of(shape.out));
}

}  // namespace

std::optional<GemmLayout> layout_named(std::string_view word) {
  if (word.size() != 2) return {};
  std::string upper(word);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto* found = std::ranges::find(kLayoutWords, upper);
  if (found == kLayoutWords.end()) return {};
  return static_cast<GemmLayout>(found - kLayoutWords.begin());
}

BlasShape blas_of(const GemmShape& shape) {
  const auto stride = [](int64_t given, int64_t dense) { return given ? given : dense; };
  return {transposes_w(shape.layout) ? 'T' : 'N',
          transposes_x(shape.layout) ? 'T' : 'N',
          shape.n,
          shape.m,
          shape.k,
          stride(shape.w_stride, shape.dense_w_stride()),
          stride(shape.x_stride, shape.dense_x_stride()),
          stride(shape.out_stride, shape.dense_out_stride())};
}

Status check_leading(const BlasShape& blas) {
  struct Matrix {
    const char* name;
    int64_t leading, rows, columns;
  };
  const bool a = is_transposed(blas.trans_a), b = is_transposed(blas.trans_b);
  for (const Matrix& matrix :
       {Matrix{"lda", blas.lda, a ? blas.k : blas.m, a ? blas.m : blas.k},
        Matrix{"ldb", blas.ldb, b ? blas.n : blas.k, b ? blas.k : blas.n}, Matrix{"ldc", blas.ldc, blas.m, blas.n}})
    if (matrix.leading != 0 && matrix.columns > 1 && matrix.leading < matrix.rows)
      return mismatch("{}: got {}, wanted at least {}", matrix.name, matrix.leading, matrix.rows);
  return {};
}

GemmShape shape_of(const BlasShape& blas, GemmShape other) {
  const auto stride = [](int64_t given, int64_t dense) { return given == dense ? 0 : given; };
  other.m = blas.n, other.n = blas.m, other.k = blas.k;
  other.layout = layout_of(is_transposed(blas.trans_a), is_transposed(blas.trans_b));
  other.w_stride = stride(blas.lda, other.dense_w_stride());
  other.x_stride = stride(blas.ldb, other.dense_x_stride());
  other.out_stride = stride(blas.ldc, other.dense_out_stride());
  return other;
}

double flops_of(const GemmShape& shape) {
  return 2 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k) *
         static_cast<double>(shape.batch);
}

double bytes_of(const GemmShape& shape) {
  const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const double bits = m * k * bits_of(shape.x) + n * k * bits_of(shape.w) + m * n * bits_of(shape.out);
  return bits / 8 * static_cast<double>(shape.batch);
}

bool same_product(const GemmShape& a, const GemmShape& b) {
  GemmShape counted = b;
  counted.count = a.count;
  return a == counted;
}

Status check(const GemmShape& shape) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"batch", shape.batch}, {"count", shape.count}};
  for (const auto& [name, size] : sizes)
    if (size < 1 || size > kMostElements) return mismatch("{}: got {}, wanted 1 to 2^58", name, size);
  const int64_t x_rows = transposes_x(shape.layout) ? shape.k : shape.m;
  const int64_t w_rows = transposes_w(shape.layout) ? shape.n : shape.k;
  RUNG_CHECK(check_operand("x", x_rows, shape.dense_x_stride(), shape.x_stride, shape.batch));
  RUNG_CHECK(check_operand("w", w_rows, shape.dense_w_stride(), shape.w_stride, shape.batch));
  return check_operand("out", shape.m, shape.dense_out_stride(), shape.out_stride, shape.batch);
}

std::string text_of(const GemmShape& shape) {
  std::string text = fmt::format("m={} n={} k={} ", shape.m, shape.n, shape.k);
  if (shape.batch != 1) text += fmt::format("batch={} ", shape.batch);
  text += fmt::format("{} {}", types_text(shape), name_of(shape.layout));
  if (shape.bias) text += fmt::format(" bias={}", name_of(*shape.bias));
  if (shape.epilogue != Epilogue::none) text += fmt::format(" {}", name_of(shape.epilogue));
  if (shape.scaling != Scaling::none) text += fmt::format(" scaling={}", name_of(shape.scaling));
  if (shape.x_stride) text += fmt::format(" x_stride={}", shape.x_stride);
  if (shape.w_stride) text += fmt::format(" w_stride={}", shape.w_stride);
  if (shape.out_stride) text += fmt::format(" out_stride={}", shape.out_stride);
  return text;
}

}  // namespace rung::stacks
