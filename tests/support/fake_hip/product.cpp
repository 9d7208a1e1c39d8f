// Products are kept until the process ends: nobody tells when a graph is gone.
// SPDX-License-Identifier: Apache-2.0
#include "support/fake_hip/product.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

extern "C" {
int hipLaunchHostFuncTaking(void* stream, void (*function)(void*), void* data, uint64_t instructions);
int hipMemcpyHtoDAsync(void* to, void* from, size_t bytes, void* stream);
}

namespace rung::fake {
namespace {

constexpr uint64_t kMostTerms = uint64_t{1} << 30;
constexpr uint64_t kTermsPerInstruction = 1024, kLeastInstructions = 200;  // as of matrix units, roughly

bool is_fast(int64_t solution) {
  const char* fast = std::getenv("RUNG_FAKE_FAST_SOLUTION");
  return fast && std::atoll(fast) == solution;
}

size_t size_of(Element type) { return type == Element::f32 ? 4 : 2; }
float read(const void* from, Element type, int64_t at) {
  if (type == Element::f32) return static_cast<const float*>(from)[at];
  return type == Element::f16 ? static_cast<float>(static_cast<const f16*>(from)[at])
                              : static_cast<float>(static_cast<const bf16*>(from)[at]);
}
void write(void* to, Element type, size_t at, float value) {
  if (type == Element::f32)
    static_cast<float*>(to)[at] = value;
  else if (type == Element::f16)
    static_cast<f16*>(to)[at] = f16(value);
  else
    static_cast<bf16*>(to)[at] = bf16(value);
}

Product& keep(Product product) {
  static std::mutex mutex;
  static auto* all = new std::deque<Product>;
  std::lock_guard lock(mutex);
  return all->emplace_back(std::move(product));
}

}  // namespace

float Product::element(int32_t batch, uint64_t row, uint64_t column) const {
  const int64_t r = static_cast<int64_t>(row), col = static_cast<int64_t>(column);
  double sum = 0;
  for (int64_t k = 0; k < static_cast<int64_t>(b.rows); ++k) {
    const int64_t at_a = a_transposed ? k + r * a.stride : r + k * a.stride;
    sum += static_cast<double>(read(from_a, a.type, batch * a.batch_stride + at_a)) *
           static_cast<double>(read(from_b, b.type, batch * b.batch_stride + k + col * b.stride));
  }
  float value = static_cast<float>(sum);
  if (beta != 0) value += beta * read(from_c, c.type, batch * c.batch_stride + r + col * c.stride);
  if (bias) value += read(bias, bias_type, r);
  if (relu) value = std::max(value, 0.0f);
  if (gelu) {
    constexpr float kSqrt2OverPi = 0.7978845608f;
    value *= 0.5f * (1 + std::tanh(kSqrt2OverPi * (value + 0.044715f * value * value * value)));
  }
  return value;
}

void Product::compute() {
  size_t at = 0;
  for (int32_t batch = 0; batch < d.batch; ++batch)
    for (uint64_t column = 0; column < d.columns; ++column)
      for (uint64_t row = 0; row < d.rows; ++row) write(result.data(), d.type, at++, element(batch, row, column));
}

bool put(Product given, int64_t solution, void* to, void* stream) {
  const Columns& shape = given.d;
  const uint64_t terms = shape.rows * shape.columns * given.b.rows * static_cast<uint64_t>(shape.batch);
  if (terms > kMostTerms) return true;
  const uint64_t instructions = (terms / kTermsPerInstruction + kLeastInstructions) / (is_fast(solution) ? 2 : 1);
  Product& product = keep(std::move(given));
  const Columns& d = product.d;
  const size_t column_bytes = d.rows * size_of(d.type), columns = d.columns * static_cast<size_t>(d.batch);
  product.result.resize(column_bytes * columns);
  if (hipLaunchHostFuncTaking(
          stream, [](void* of) { static_cast<Product*>(of)->compute(); }, &product, instructions) != 0)
    return false;
  for (size_t i = 0; i < columns; ++i) {
    const size_t element =
        i / d.columns * static_cast<size_t>(d.batch_stride) + i % d.columns * static_cast<size_t>(d.stride);
    if (hipMemcpyHtoDAsync(static_cast<uint8_t*>(to) + element * size_of(d.type),
                           product.result.data() + i * column_bytes, column_bytes, stream) != 0)
      return false;
  }
  return true;
}

}  // namespace rung::fake
