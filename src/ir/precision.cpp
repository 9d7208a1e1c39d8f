// Overlays entries.
// SPDX-License-Identifier: Apache-2.0
#include "ir/precision.hpp"

#include "ir/scope.hpp"

namespace rung {

bool PartPrecision::covers(std::string_view label) const { return labels == "*" || rung::covers(labels, label); }

LabelPrecision precision_at(const Precision& precision, std::string_view label) {
  LabelPrecision at;
  for (const PartPrecision& part : precision) {
    if (!part.covers(label)) continue;
    if (part.products) at.smooth = 0, at.rotate = false, at.percentile = 100, at.outliers = 0;
    at.products = part.products.value_or(at.products);
    if (part.weights || part.products) at.weights = part.weights;
    at.attention = part.attention.value_or(at.attention);
    at.values = part.values.value_or(at.values);
    at.cache = part.cache.value_or(at.cache);
    at.smooth = part.smooth.value_or(at.smooth);
    at.rotate = part.rotate.value_or(at.rotate);
    at.percentile = part.percentile.value_or(at.percentile);
    at.outliers = part.outliers.value_or(at.outliers);
  }
  return at;
}

Precision everywhere(DType dtype) {
  if (dtype == DType::f32) return {};
  return {{.labels = "*", .products = dtype, .attention = dtype, .values = dtype}};
}

DType narrowest(const Precision& precision) {
  DType found = DType::f32;
  const auto of_weights = [](const PartPrecision& part) -> std::optional<DType> {
    if (!part.weights) return std::nullopt;
    return part.weights->to == DType::u8 ? DType::i8 : part.weights->to;
  };
  for (const PartPrecision& part : precision)
    for (const auto& dtype : {part.products, of_weights(part), part.attention, part.values, part.cache})
      if (dtype && size_of(*dtype) < size_of(found)) found = *dtype;
  return found;
}

DType coarser(DType a, DType b) {
  if (is_quantised(a) || is_quantised(b)) return is_quantised(b) && !is_quantised(a) ? b : a;
  return b == DType::bf16 || (b == DType::f16 && a == DType::f32) ? b : a;
}

}  // namespace rung
