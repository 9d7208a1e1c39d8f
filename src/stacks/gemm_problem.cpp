// Makes the operands and the op of a product.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/gemm_problem.hpp"

#include <algorithm>

namespace rung::stacks {
namespace {

// The value is Workbench's: it only orders products, of which a budget may not reach all.
constexpr double kFlopsPerByte = 100;

Result<DType> dtype_of(ElementType type) {
  const auto known = dtype_named(name_of(type));
  if (known == DType::f32 || known == DType::f16 || known == DType::bf16) return *known;
  return fail("kernels here do not compute in {}", name_of(type));
}

// A rows x columns matrix; rows are `stride` elements apart in memory, as given or transposed. 0: without a gap.
struct Stored {
  int64_t rows, columns, stride;
  bool transposed;
  Operand operand(DType dtype, int64_t batch, bool constant) const {
    const int64_t lines = transposed ? columns : rows, width = transposed ? rows : columns;
    const int64_t apart = stride && lines > 1 ? stride : width;
    Operand made{dtype, {rows, columns}, {transposed ? 1 : apart, transposed ? apart : 1}, constant};
    if (batch == 1) return made;
    made.shape = {batch, rows, columns};
    made.strides = {lines * apart, made.strides[0], made.strides[1]};
    return made;
  }
};

Stored x_of(const GemmShape& shape) { return {shape.m, shape.k, shape.x_stride, transposes_x(shape.layout)}; }
// Returns w stored as [n, k].
Stored w_of(const GemmShape& shape) { return {shape.n, shape.k, shape.w_stride, !transposes_w(shape.layout)}; }

Operand dense(DType dtype, const Shape& shape, bool constant = false) {
  return {dtype, shape, contiguous_strides(shape), constant};
}

bool is_linear(const GemmShape& shape) {
  return shape.batch == 1 && shape.layout == GemmLayout::tn && (!shape.w_stride || shape.w_stride == shape.k);
}

Activation activation_of(Epilogue epilogue) {
  constexpr std::array kActivations{Activation::none, Activation::relu, Activation::gelu_tanh, Activation::silu};
  return kActivations[static_cast<size_t>(epilogue)];
}

Result<Problem> linear(const GemmShape& shape, DType x, DType w) {
  Linear op;
  op.epilogue.activation = activation_of(shape.epilogue);
  RUNG_TRY(op.out, dtype_of(shape.out));
  Problem problem{.op = op,
                  .inputs = {x_of(shape).operand(x, 1, false), w_of(shape).operand(w, 1, true)},
                  .output = dense(op.out, {shape.m, shape.n})};
  if (!shape.bias) return problem;
  RUNG_TRY(const DType bias, dtype_of(*shape.bias));
  std::get<Linear>(problem.op).slots.put(problem.inputs, LinearSlot::bias, dense(bias, {shape.n}, true));
  return problem;
}

Result<Problem> matmul(const GemmShape& shape, DType x, DType w) {
  if (shape.bias || shape.epilogue != Epilogue::none)
    return fail("bias and epilogue are timed of one TN product without gaps in w, got {}", text_of(shape));
  RUNG_TRY(const DType out, dtype_of(shape.out));
  if (x != w || x != out) return fail("got types {}, {} and {}, wanted one", name_of(x), name_of(w), name_of(out));
  Operand b = w_of(shape).operand(w, shape.batch, shape.batch == 1);
  const int last = b.shape.rank() - 1;
  std::swap(b.shape[last - 1], b.shape[last]), std::swap(b.strides[last - 1], b.strides[last]);
  Shape result{shape.m, shape.n};
  if (shape.batch > 1) result = {shape.batch, shape.m, shape.n};
  return Problem{
      .op = MatMul{}, .inputs = {x_of(shape).operand(x, shape.batch, false), b}, .output = dense(out, result)};
}

}  // namespace

Result<Problem> problem_of(const GemmShape& shape, int threads) {
  RUNG_CHECK(check(shape));
  if (shape.scaling != Scaling::none) return fail("products with factors of {} are not timed", name_of(shape.scaling));
  if (shape.out_stride && shape.out_stride != shape.n && shape.m > 1)
    return fail("results are written without gaps, got rows of {} that are {} apart", shape.n, shape.out_stride);
  RUNG_TRY(const DType x, dtype_of(shape.x));
  RUNG_TRY(const DType w, dtype_of(shape.w));
  RUNG_TRY(Problem problem, is_linear(shape) ? linear(shape, x, w) : matmul(shape, x, w));
  problem.threads = threads;
  return problem;
}

double headroom_of(const GemmShape& shape) {
  return std::max(flops_of(shape) / kFlopsPerByte, bytes_of(shape)) * static_cast<double>(shape.count);
}

}  // namespace rung::stacks
