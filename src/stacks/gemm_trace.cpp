// Reads matrix products from the host operations that a framework recorded, with types, shapes and strides.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <unordered_map>

#include "stacks/gemm_list.hpp"
#include "trace/analysis/recorded_product.hpp"

namespace rung::stacks {
namespace {

using trace::CallOperand;
using trace::Event;
using trace::ProductKind;
using trace::RecordedProduct;
using trace::Recording;

// A matrix as it is stored: whether it is transposed, and the distance of its rows in memory.
struct RecordedMatrix {
  bool transposed = false;
  int64_t stride = 0;
};
// Returns the stored form of a matrix by the distances of its rows and columns; nullopt: neither axis is dense.
std::optional<RecordedMatrix> stored_of(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  if (column_stride == 1 && row_stride >= columns) return RecordedMatrix{false, row_stride};
  if (row_stride == 1 && column_stride >= rows) return RecordedMatrix{true, column_stride};
  if (rows == 1 && column_stride == 1) return RecordedMatrix{false, columns};
  if (columns == 1 && row_stride == 1) return RecordedMatrix{true, rows};
  return std::nullopt;
}

int64_t gap(int64_t stride, int64_t dense) { return stride == dense ? 0 : stride; }

bool has_strides(const CallOperand& operand) { return operand.strides.size() == operand.shape.size(); }

// Takes sizes and strides; errors become remarks. All rows of a layer's x have one stride.
Result<GemmShape> shape_of(const RecordedProduct& product) {
  GemmShape shape{.m = product.m, .n = product.n, .k = product.k, .batch = product.batch};
  if (!has_strides(product.a) || !has_strides(product.b)) return shape;
  const auto x = product.a.strides.end() - 2, w = product.b.strides.end() - 2;
  const auto x_stored = stored_of(shape.m, shape.k, x[0], x[1]);
  const auto w_stored = stored_of(shape.k, shape.n, w[product.b_transposed], w[!product.b_transposed]);
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
      if (event.kind == trace::EventKind::host_op)
        if (const auto kind = trace::product_kind(recording_.name_of(event))) take(event, *kind);
    for (const auto& [lane, layer] : layers_) add(*layer);
    return std::move(list_);
  }

 private:
  void take(const Event& event, ProductKind kind) {
    if (const auto open = layers_.find(event.lane); open != layers_.end()) {
      const Event& layer = *open->second;
      layers_.erase(open);
      if (event.start_ns >= layer.end_ns()) add(layer);  // the layer called none of the others
    }
    switch (kind) {
      case ProductKind::library:
        return add(event);
      case ProductKind::layer:
        return void(layers_[event.lane] = &event);
      case ProductKind::scaled:
        return remark(event, "products of 8-bit operands are not timed");
      case ProductKind::compiled:
        return remark(event, "products that no library computes are not timed");
    }
  }

  void add(const Event& event) {
    const auto product = trace::product_of(recording_, event);
    if (!product) return remark(event, product.error().message);
    auto shape = shape_of(*product);
    if (shape)
      if (Status sound = check(*shape); !sound) shape = tl::unexpected(sound.error());
    if (!shape) return remark(event, shape.error().message);
    if (!set_types(*shape, *product))
      return remark(event, fmt::format("operands of {} and {}", product->a.type, product->b.type));
    if (product->a.strides.empty() || product->b.strides.empty())
      remark(event, "no strides recorded, taken for a linear layer's (TN)");
    list_.add(*shape);
  }

  void remark(const Event& event, std::string_view what) {
    list_.remark(fmt::format("{}: {}", recording_.name_of(event), what));
  }

  static bool set_types(GemmShape& shape, const RecordedProduct& product) {
    const auto x = element_type_named(product.a.type), w = element_type_named(product.b.type);
    if (!x || !w) return false;
    shape.x = shape.out = *x, shape.w = *w;
    if (product.bias && product.bias->shape.size() == 1) shape.bias = element_type_named(product.bias->type);
    return true;
  }

  const Recording& recording_;
  GemmList list_;
  std::unordered_map<uint16_t, const Event*> layers_;  // by lane: not yet known whether the layer called another
};

}  // namespace

GemmList gemms_of(const Recording& recording) { return GemmReader(recording).read(); }

}  // namespace rung::stacks
