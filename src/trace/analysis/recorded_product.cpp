// THE list of operations that are products, and the sizes of each.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/recorded_product.hpp"

#include <algorithm>

namespace rung::trace {
namespace {

using enum ProductKind;

// The positions of operands among an operation's arguments; -1: it has none.
struct ProductOp {
  std::string_view name;
  int a, b, bias;
  bool batched = false, b_transposed = false;
  ProductKind kind = library;
};
constexpr ProductOp kProductOps[] = {
    {"aten::mm", 0, 1, -1},
    {"aten::addmm", 1, 2, 0},
    {"aten::_addmm_activation", 1, 2, 0},
    {"aten::bmm", 0, 1, -1, true},
    {"aten::baddbmm", 1, 2, -1, true},
    {"aten::linear", 0, 1, 2, false, true, layer},
    {"vllm::rocm_unquantized_gemm", 0, 1, 2, false, true, layer},
    {"aten::_scaled_mm", 0, 1, -1, false, false, scaled},
};

const ProductOp* op_named(std::string_view name) {
  const auto* found = std::ranges::find(kProductOps, name, &ProductOp::name);
  return found == std::end(kProductOps) ? nullptr : found;
}

bool is_compiled(std::string_view operation) {
  return operation.starts_with("triton_tem_") && operation.find("mm") != operation.npos &&
         operation.find("attention") == operation.npos;
}

// Returns the product of all dimensions before the last; 0: an invalid size, or more rows than fit.
int64_t rows_of(const CallOperand& operand) {
  int64_t rows = 1;
  for (size_t axis = 0; axis + 1 < operand.shape.size(); ++axis)
    if (operand.shape[axis] < 1 || __builtin_mul_overflow(rows, operand.shape[axis], &rows)) return 0;
  return rows;
}

// Refuses sizes whose sums and products could overflow: a file may contain any number.
bool are_sizes(const RecordedProduct& product) {
  constexpr int64_t kMost = INT32_MAX;
  for (const int64_t size : {product.batch, product.m, product.n, product.k})
    if (size <= 0 || size > kMost) return false;
  for (const CallOperand* operand : {&product.a, &product.b})
    for (const int64_t stride : operand->strides)
      if (stride < 0 || stride > kMost * kMost) return false;
  return true;
}

// Sets sizes by shapes; a layer's first operand may have any number of axes.
Status set_sizes(const ProductOp& op, RecordedProduct& product) {
  const std::vector<int64_t>&a = product.a.shape, &b = product.b.shape;
  const size_t rank = op.batched ? 3 : 2;
  const bool a_fits = op.kind == layer ? a.size() >= rank : a.size() == rank;
  if (!a_fits || b.size() != rank || (op.batched && a[0] != b[0]))
    return fail("operands that are not {} matrices", op.batched ? "batches of" : "two");
  product.batch = op.batched ? a[0] : 1;
  product.m = op.batched ? a[1] : rows_of(product.a);
  product.k = a.back();
  product.n = op.b_transposed ? b[rank - 2] : b.back();
  if ((op.b_transposed ? b.back() : b[rank - 2]) != product.k) return fail("operands whose inner sizes differ");
  return {};
}

// Sets sizes by elements: Inductor's templates take operands of any shape and the result last, before the grid's sizes.
Status set_compiled_sizes(const std::vector<CallOperand>& operands, RecordedProduct& product) {
  std::vector<const CallOperand*> tensors;
  for (const CallOperand& operand : operands)
    if (operand.shape.size() >= 2) tensors.push_back(&operand);
  if (tensors.size() < 3) return fail("no shapes recorded");
  product.a = *tensors[0];
  product.b = *tensors[1];
  product.n = tensors.back()->shape.back();
  product.m = rows_of(*tensors.back());
  const int64_t a = elements_of(product.a), b = elements_of(product.b);
  if (product.n <= 0 || product.m <= 0 || b % product.n != 0 || a % product.m != 0)
    return fail("operands that are not two matrices");
  product.k = b / product.n;
  return a / product.m == product.k ? Status{} : fail("operands whose inner sizes differ");
}

const CallOperand* operand_at(const std::vector<CallOperand>& operands, int place) {
  const bool has_shape =
      place >= 0 && static_cast<size_t>(place) < operands.size() && !operands[static_cast<size_t>(place)].shape.empty();
  return has_shape ? &operands[static_cast<size_t>(place)] : nullptr;
}

Status take_operands(const ProductOp& op, const std::vector<CallOperand>& operands, RecordedProduct& product) {
  const CallOperand *a = operand_at(operands, op.a), *b = operand_at(operands, op.b);
  if (!a || !b) return fail("no shapes recorded");
  product.a = *a, product.b = *b, product.b_transposed = op.b_transposed;
  if (const CallOperand* bias = operand_at(operands, op.bias)) product.bias = *bias;
  return set_sizes(op, product);
}

}  // namespace

std::optional<ProductKind> product_kind(std::string_view operation) {
  if (const ProductOp* op = op_named(operation)) return op->kind;
  return is_compiled(operation) ? std::optional(compiled) : std::nullopt;
}

Result<RecordedProduct> product_of(const Recording& recording, const Event& operation) {
  const std::vector<CallOperand> operands = operands_of(recording, operation);
  const ProductOp* op = op_named(recording.name_of(operation));
  RecordedProduct product;
  RUNG_CHECK(op ? take_operands(*op, operands, product) : set_compiled_sizes(operands, product));
  if (!are_sizes(product)) return fail("operands without elements, or with too many");
  return product;
}

}  // namespace rung::trace
