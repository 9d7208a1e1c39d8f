// Reads matrix products from host operations: recognises them by name, and takes their sizes from operands.
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
  layer,    // likewise, or it calls another of these operations, which then counts
  scaled,   // operands in 8 bits, with scales
  compiled  // a kernel that Inductor wrote
};

// A product of [batch, m, k] by [batch, k, n].
struct RecordedProduct {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  CallOperand a, b;
  std::optional<CallOperand> bias;
  bool b_transposed = false;  // b is [n, k]; unknown for a compiled product

  std::string_view type() const { return a.type; }
};

// Returns nullopt if operations of that name are no products.
std::optional<ProductKind> product_kind(std::string_view operation);
// Returns the product of such an operation. Errors: its shapes are not recorded, or fit no product.
Result<RecordedProduct> product_of(const Recording& recording, const Event& operation);

}  // namespace rung::trace
