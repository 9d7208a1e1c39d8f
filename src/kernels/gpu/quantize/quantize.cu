// Rows in 8 bits with a scale each: a block finds a row's largest magnitude, and divides what its threads still hold.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/quantize/eight_bits.cuh"
#include "kernels/gpu/quantize/quantize_arguments.hpp"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

template <QuantizeConfig config>
struct QuantizedRow {
  using X = Element<config.x>;
  static constexpr int kVector = config.vector;
  using Bits = Unit<kVector * sizeof(X)>;
  using Held = Bits[kQuantizeHeld];

  const QuantizeArguments& a;
  const uint32_t step = kQuantizeHeld * blockDim.x;  // vectors that the block holds

  __device__ void load(Held& held, uint32_t first) const {
    const auto* row = reinterpret_cast<const Bits*>(in_memory<const X>(a.x) + blockIdx.x * a.x_row);
#pragma unroll
    for (uint32_t i = 0; i < kQuantizeHeld; ++i)
      if (first + i * blockDim.x < a.vectors) held[i] = row[first + i * blockDim.x];
  }
  __device__ static void widen(float (&to)[kVector], const Bits& bits) {
    if constexpr (kVector == 1) {
      if constexpr (sizeof(X) == 4)
        to[0] = as_float(bits);
      else
        to[0] = unpack<X>(bits).x;
    } else {
      const auto* words = reinterpret_cast<const uint32_t*>(&bits);
#pragma unroll
      for (int i = 0; i < kVector * static_cast<int>(sizeof(X)) / 4; ++i) {
        if constexpr (sizeof(X) == 4) {
          to[i] = as_float(words[i]);
        } else {
          const float2 pair = unpack<X>(words[i]);
          to[2 * i] = pair.x, to[2 * i + 1] = pair.y;
        }
      }
    }
  }
  __device__ float largest_of(const Held& held, uint32_t first, float largest) const {
#pragma unroll
    for (uint32_t i = 0; i < kQuantizeHeld; ++i) {
      if (first + i * blockDim.x >= a.vectors) break;
      float x[kVector];
      widen(x, held[i]);
#pragma unroll
      for (const float value : x) largest = Max{}(largest, fabsf(value));
    }
    return largest;
  }
  __device__ void store(const Held& held, uint32_t first, float scale) const {
    using Eighths = Unit<kVector>;
    auto* row = in_memory<Eighths>(a.out) + int64_t{blockIdx.x} * a.vectors;
#pragma unroll
    for (uint32_t i = 0; i < kQuantizeHeld; ++i) {
      if (first + i * blockDim.x >= a.vectors) break;
      float x[kVector];
      widen(x, held[i]);
#pragma unroll
      for (float& value : x) value /= scale;
      uint32_t words[(kVector + 3) / 4];
      pack_eight_bits<config.to_i8>(words, x);
      row[first + i * blockDim.x] = *reinterpret_cast<const Eighths*>(words);
    }
  }
  __device__ void run() const {
    __shared__ float partial[kMaxWarps];
    allow_dependents();
    wait_for_producers();
    Held held;
    float largest = 0;
    for (uint32_t first = threadIdx.x; first < a.vectors; first += step)
      load(held, first), largest = largest_of(held, first, largest);
    largest = reduce_block(largest, Max{}, partial);
    const float scale = largest == 0 ? 1.0f : largest / a.most;
    if (threadIdx.x == 0) in_memory<float>(a.scales)[blockIdx.x] = scale;
    for (uint32_t first = threadIdx.x; first < a.vectors; first += step) {
      if (a.vectors > step) load(held, first);
      store(held, first, scale);
    }
  }
};

}  // namespace

#define RUNG_VARIANT(entry, ...)         \
  RUNG_KERNEL(kQuantizeMostThreads)      \
      entry(const __grid_constant__ QuantizeArguments a) { QuantizedRow<QuantizeConfig{__VA_ARGS__}>{a}.run(); }
#include "kernels/gpu/quantize/quantize.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
