// Matrix products out of the host operations that a framework recorded, with types, shapes and strides.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "advise/analysis/analysis.hpp"
#include "tasks/gemm_list.hpp"

namespace rung::tasks {
namespace {

using advise::Event;
using advise::Recording;
using advise::tuned::GemmLayout;
using advise::tuned::GemmShape;

// Where an operation's operands stand among its arguments; -1: it has none.
struct GemmOp {
  std::string_view name;
  int x, w, bias;
  bool batched = false;
  bool is_linear =
      false;  // w is [n, k], x has any number of axes; the operations above do its work, where it calls one
};
constexpr std::array kGemmOps{GemmOp{"aten::mm", 0, 1, -1},
                              GemmOp{"aten::addmm", 1, 2, 0},
                              GemmOp{"aten::_addmm_activation", 1, 2, 0},
                              GemmOp{"aten::bmm", 0, 1, -1, true},
                              GemmOp{"aten::baddbmm", 1, 2, -1, true},
                              GemmOp{"aten::linear", 0, 1, 2, false, true}};

// A matrix as it is stored: whether the other way round, and its rows' distance there.
struct RecordedMatrix {
  bool transposed = false;
  int64_t stride = 0;
};
// The last two of `shape` and `strides`. Nullopt: neither axis is dense.
std::optional<RecordedMatrix> stored_of(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  const size_t last = shape.size() - 1;
  const int64_t rows = shape[last - 1], columns = shape[last];
  const int64_t row_stride = strides[last - 1], column_stride = strides[last];
  if (column_stride == 1 && row_stride >= columns) return RecordedMatrix{false, row_stride};
  if (row_stride == 1 && column_stride >= rows) return RecordedMatrix{true, column_stride};
  if (rows == 1 && column_stride == 1) return RecordedMatrix{false, columns};
  if (columns == 1 && row_stride == 1) return RecordedMatrix{true, rows};
  return std::nullopt;
}

int64_t gap(int64_t stride, int64_t dense) { return stride == dense ? 0 : stride; }

// Nullopt: a size that no operand has, or more rows than are counted.
std::optional<int64_t> rows_of(const std::vector<int64_t>& shape) {
  int64_t rows = 1;
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
    if (shape[axis] < 1 || __builtin_mul_overflow(rows, shape[axis], &rows)) return std::nullopt;
  return rows;
}

struct RecordedOperands {
  const advise::Operand *x = nullptr, *w = nullptr, *bias = nullptr;
};

// Sizes and strides; what goes wrong is a remark.
Result<GemmShape> shape_of(const GemmOp& op, const RecordedOperands& operands) {
  std::vector<int64_t> x = operands.x->shape, w = operands.w->shape;
  std::vector<int64_t> x_strides = operands.x->strides, w_strides = operands.w->strides;
  if (op.is_linear && x.size() > 2) {  // rows of one stride
    const auto rows = rows_of(x);
    if (!rows) return fail("operands without elements, or with too many");
    x = {*rows, x.back()};
    if (!x_strides.empty()) x_strides.erase(x_strides.begin(), x_strides.end() - 2);
  }
  const size_t rank = op.batched ? 3 : 2;
  if (x.size() != rank || w.size() != rank || (op.batched && x[0] != w[0]))
    return fail("operands that are not {} matrices", op.batched ? "batches of" : "two");
  if (op.is_linear) std::swap(w[0], w[1]);
  if (op.is_linear && w_strides.size() == 2) std::swap(w_strides[0], w_strides[1]);
  GemmShape shape{.m = x[rank - 2], .n = w[rank - 1], .k = x[rank - 1], .batch = op.batched ? x[0] : 1};
  if (w[rank - 2] != shape.k) return fail("operands whose inner sizes differ");
  if (x_strides.size() != rank || w_strides.size() != rank) return shape;
  const auto x_stored = stored_of(x, x_strides), w_stored = stored_of(w, w_strides);
  if (!x_stored || !w_stored) return fail("operands that are copied first: no axis is dense");
  constexpr GemmLayout kLayouts[2][2] = {{GemmLayout::nn, GemmLayout::nt}, {GemmLayout::tn, GemmLayout::tt}};
  shape.layout = kLayouts[w_stored->transposed][x_stored->transposed];
  shape.x_stride = gap(x_stored->stride, shape.dense_x_stride());
  shape.w_stride = gap(w_stored->stride, shape.dense_w_stride());
  return shape;
}

class GemmReader {
 public:
  explicit GemmReader(const Recording& recording) : recording_(recording) { list_.source = recording.format; }

  GemmList read() {
    for (const Event& event : recording_.events)
      if (event.kind == advise::EventKind::host_op) take(event);
    for (const auto& [lane, linear] : linears_) add(*linear.op, *linear.event);
    return std::move(list_);
  }

 private:
  struct OpenLinear {
    const GemmOp* op;
    const Event* event;
  };

  void take(const Event& event) {
    const auto name = recording_.name_of(event);
    const auto* op = std::find_if(kGemmOps.begin(), kGemmOps.end(), [&](const GemmOp& o) { return o.name == name; });
    if (name == "aten::_scaled_mm") list_.remark("aten::_scaled_mm: products of 8-bit operands are not timed");
    if (op == kGemmOps.end()) return;
    const auto open = linears_.find(event.lane);
    if (open != linears_.end()) {
      const OpenLinear linear = open->second;
      linears_.erase(open);
      if (event.start_ns >= linear.event->end_ns()) add(*linear.op, *linear.event);  // it called none of the others
    }
    if (op->is_linear)
      linears_[event.lane] = {op, &event};
    else
      add(*op, event);
  }

  void add(const GemmOp& op, const Event& event) {
    const std::vector<advise::Operand> all = operands_of(recording_, event);
    const auto at = [&](int place) {
      return place >= 0 && static_cast<size_t>(place) < all.size() ? &all[static_cast<size_t>(place)] : nullptr;
    };
    const RecordedOperands operands{at(op.x), at(op.w), at(op.bias)};
    if (!operands.x || !operands.w || operands.x->shape.empty() || operands.w->shape.empty())
      return list_.remark(fmt::format("{}: no shapes recorded", op.name));
    auto shape = shape_of(op, operands);
    if (shape)
      if (Status sound = check(*shape); !sound) shape = tl::unexpected(sound.error());
    if (!shape) return list_.remark(fmt::format("{}: {}", op.name, shape.error().message));
    if (!set_types(*shape, operands))
      return list_.remark(fmt::format("{}: operands of {} and {}", op.name, operands.x->type, operands.w->type));
    if (operands.x->strides.empty() || operands.w->strides.empty())
      list_.remark(fmt::format("{}: no strides recorded, taken for a linear layer's (TN)", op.name));
    list_.add(*shape);
  }

  static bool set_types(GemmShape& shape, const RecordedOperands& operands) {
    const auto x = advise::tuned::element_type_named(operands.x->type);
    const auto w = advise::tuned::element_type_named(operands.w->type);
    if (!x || !w) return false;
    shape.x = shape.out = *x, shape.w = *w;
    if (operands.bias && operands.bias->shape.size() == 1)
      shape.bias = advise::tuned::element_type_named(operands.bias->type);
    return true;
  }

  const Recording& recording_;
  GemmList list_;
  std::unordered_map<uint16_t, OpenLinear> linears_;  // by lane: whether it called another is not known yet
};

}  // namespace

GemmList gemms_of(const Recording& recording) { return GemmReader(recording).read(); }

}  // namespace rung::tasks
