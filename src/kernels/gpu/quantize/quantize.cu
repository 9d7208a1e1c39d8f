// Rows in 8 bits with a scale each: a block finds a row's largest magnitude, and divides what its threads still hold.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/quantize/eight_bits.cuh"
#include "kernels/gpu/quantize/quantize_arguments.hpp"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

// Divides by one number as exactly as a division does, for all quotients that do not round to zero in 8 bits.
class Divider {
 public:
  __device__ explicit Divider(float by)
      : shift(by > 0x1p60f ? 0x1p-64f : by < 0x1p-60f ? 0x1p64f : 1.0f),
        by(by * shift),
        inverse(1.0f / this->by),
        is_finite(by < INFINITY) {}
  // Returns whether the numbers are finite and need no shift, as those of nearly all rows.
  __device__ bool is_plain() const { return is_finite && shift == 1.0f; }
  template <bool plain>
  __device__ float divide(float x) const {
    const float shifted = plain ? x : x * shift, near = shifted * inverse;
    const float exact = fmaf(fmaf(-near, by, shifted), inverse, near);  // adds what the inverse's rounding left
    return plain || is_finite ? exact : near;
  }

 private:
  const float shift, by, inverse;  // the shift keeps the inverse among normal numbers
  const bool is_finite;
};

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
  // Magnitudes are compared as integers, among which a NaN is the largest.
  __device__ uint32_t largest_of(const Held& held, uint32_t first, uint32_t largest) const {
#pragma unroll
    for (uint32_t i = 0; i < kQuantizeHeld; ++i) {
      if (first + i * blockDim.x >= a.vectors) break;
      float x[kVector];
      widen(x, held[i]);
#pragma unroll
      for (const float value : x) largest = max(largest, as_bits(value) & 0x7fffffffu);
    }
    return largest;
  }
  // Rounds quotients. Those of plain rows are no larger than the largest number of 8 bits, up to a last place.
  template <bool plain>
  __device__ static void pack(uint32_t (&words)[(kVector + 3) / 4], const float (&x)[kVector]) {
    if constexpr (plain && config.to_i8 && kVector > 1) {
#pragma unroll
      for (int i = 0; i < kVector; i += 4)
        words[i / 4] = small_i8_bits(x[i]) | small_i8_bits(x[i + 1]) << 8 | small_i8_bits(x[i + 2]) << 16 |
                       small_i8_bits(x[i + 3]) << 24;
    } else {
      pack_eight_bits<config.to_i8>(words, x);
    }
  }
  template <bool plain>
  __device__ void store(const Held& held, uint32_t first, const Divider& by) const {
    using Eighths = Unit<kVector>;
    auto* row = in_memory<Eighths>(a.out) + int64_t{blockIdx.x} * a.vectors;
#pragma unroll
    for (uint32_t i = 0; i < kQuantizeHeld; ++i) {
      if (first + i * blockDim.x >= a.vectors) break;
      float x[kVector];
      widen(x, held[i]);
#pragma unroll
      for (float& value : x) value = by.divide<plain>(value);
      uint32_t words[(kVector + 3) / 4];
      pack<plain>(words, x);
      row[first + i * blockDim.x] = *reinterpret_cast<const Eighths*>(words);
    }
  }
  __device__ void run() const {
    __shared__ float partial[kMaxWarps];
    allow_dependents();
    wait_for_producers();
    Held held;
    uint32_t most = 0;
    for (uint32_t first = threadIdx.x; first < a.vectors; first += step)
      load(held, first), most = largest_of(held, first, most);
    const float largest = reduce_block(as_float(most), Max{}, partial);
    const float scale = largest == 0 ? 1.0f : largest / a.most;
    if (threadIdx.x == 0) in_memory<float>(a.scales)[blockIdx.x] = scale;
    const Divider by(scale);
    const bool plain = config.to_i8 && by.is_plain();
    for (uint32_t first = threadIdx.x; first < a.vectors; first += step) {
      if (a.vectors > step) load(held, first);
      plain ? store<true>(held, first, by) : store<false>(held, first, by);
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
