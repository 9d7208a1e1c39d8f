// Matrix products as host operations tell them: which operations are one, and their sizes by their operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "trace/analysis/analysis.hpp"

namespace rung::trace {

enum class ProductKind : uint8_t {
  library,  // a vendor's library computes it
  layer,    // the same, or it calls another of these operations, whose product is the one
  scaled,   // of 8-bit operands with scales
  compiled  // by a kernel that Inductor wrote
};

// [batch, m, k] by [batch, k, n].
struct RecordedProduct {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Operand a, b;
  std::optional<Operand> bias;
  bool b_transposed = false;  // b is [n, k]; of a compiled product not known

  std::string_view type() const { return a.type; }
};

// Nullopt: operations of that name are no products.
std::optional<ProductKind> product_kind(std::string_view operation);
// The product of an operation that is one. Errors: its shapes are not recorded, or are none of a product.
Result<RecordedProduct> product_of(const Recording& recording, const Event& operation);

}  // namespace rung::trace
