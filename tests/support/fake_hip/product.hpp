// A matrix product that the host computes in its turn in a stream: what the stand-ins for AMD's GEMM libraries do.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "base/numeric.hpp"

namespace rung::fake {

enum class Element : uint8_t { f32, f16, bf16 };

// Columns of `rows` elements, `stride` from one to the next; that number of such matrices, `batch_stride` apart.
struct Columns {
  Element type = Element::f32;
  uint64_t rows = 0, columns = 0;
  int64_t stride = 0;
  int32_t batch = 1;
  int64_t batch_stride = 0;
};

// d = activation(a b + beta c + bias of a row), with all that it needs: what described it may be gone when a graph
// runs.
struct Product {
  bool a_transposed = false, relu = false, gelu = false;
  const void* bias = nullptr;  // null: none
  Element bias_type = Element::f32;
  Columns a, b, c, d;
  const void *from_a = nullptr, *from_b = nullptr, *from_c = nullptr;
  float beta = 0;
  std::vector<uint8_t> result;  // columns without gaps

  void compute();

 private:
  float element(int32_t batch, uint64_t row, uint64_t column) const;
};

// Puts it into the stream, to leave its result at `to`; the solution of the number in RUNG_FAKE_FAST_SOLUTION takes
// half as long as others. Of one too large to compute, which measures a peak, nothing comes. False: the runtime
// refused.
bool put(Product product, int64_t solution, void* to, void* stream);

}  // namespace rung::fake
