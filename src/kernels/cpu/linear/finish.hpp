// The end of a tile of sums (bias, activation, gate, residual, rounding), and row conversion. Included by one file per
// instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/linear/micro.hpp"
#include "kernels/cpu/simd_math.hpp"

namespace rung::cpu::RUNG_ISA {

template <class T>
RUNG_SIMD Vec load_part(const T* from, int n) {
  return n == kLanes ? load(from) : load(from, n);
}
template <class T>
RUNG_SIMD void store_part(T* to, Vec v, int n) {
  n == kLanes ? store(to, v) : store(to, v, n);
}

// Loads elements i .. i+n-1 of f32, bf16, f16 or i8, where n is at most a vector; n <= 0 loads none.
RUNG_SIMD Vec load_as(const void* p, DType type, int64_t i, int n) {
  if (type == DType::f32) return load_part(static_cast<const float*>(p) + i, n);
  if (type == DType::bf16) return load_part(reinterpret_cast<const bf16*>(bits_of(p) + i), n);
  if (type == DType::i8) return load_part(static_cast<const int8_t*>(p) + i, n);
  return load_part(reinterpret_cast<const f16*>(bits_of(p) + i), n);
}
RUNG_SIMD void store_as(void* p, DType type, int64_t i, Vec v, int n) {
  if (type == DType::f32) return store_part(static_cast<float*>(p) + i, v, n);
  if (type == DType::bf16) return store_part(reinterpret_cast<bf16*>(bits_of(p) + i), v, n);
  store_part(reinterpret_cast<f16*>(bits_of(p) + i), v, n);
}

template <Activation activation, Accuracy accuracy>
RUNG_SIMD Vec activate(Vec x) {
  if constexpr (activation == Activation::relu) return relu(x);
  if constexpr (activation == Activation::gelu) return gelu<accuracy>(x);
  if constexpr (activation == Activation::gelu_tanh) return gelu_tanh<accuracy>(x);
  if constexpr (activation == Activation::silu) return silu<accuracy>(x);
  if constexpr (activation == Activation::tanh) return tanh<accuracy>(x);
  return x;
}

// The tails of a result: none, or a clipped line. NaN stays.
struct NoTail {
  RUNG_SIMD NoTail of(const gemm::Finish&) { return {}; }
  RUNG_SIMD Vec apply(const NoTail&, Vec y) { return y; }
};
struct LineTail {
  Vec slope, shift, low, high;
  bool times_x;
  RUNG_SIMD LineTail of(const gemm::Finish& f) {
    return {set1(f.tail->slope), set1(f.tail->shift), set1(f.tail->low), set1(f.tail->high), f.tail->times_x};
  }
  RUNG_SIMD Vec apply(const LineTail& t, Vec y) {
    const Vec line = min(t.high, max(t.low, fma(y, t.slope, t.shift)));
    return t.times_x ? line * y : line;
  }
};

// Finishes a full vector of columns, all f32, without a gate, as in most tiles. The general loop would cost 5 % of a
// k = 384 product.
template <Activation activation, Accuracy accuracy, class Tail>
RUNG_SIMD void finish_f32(const gemm::Finish& f, int64_t c, Vec bias, const Tail& tail) {
  const float* sums = f.sums + c;
  const float* residual = f.residual ? static_cast<const float*>(f.residual) + c : nullptr;
  float* out = static_cast<float*>(f.out) + c;
  for (int64_t r = 0; r < f.rows; ++r) {
    Vec y = activate<activation, accuracy>(load(sums + r * f.width) + bias);
    if (residual) y = y + load(residual + r * f.residual_stride);
    store(out + r * f.out_stride, Tail::apply(tail, y));
  }
}

template <Activation activation, Accuracy accuracy, class Tail = NoTail>
void finish_as(const gemm::Finish& f) {
  const Tail tail = Tail::of(f);
  const bool all_f32 = !f.gate && f.out_type == DType::f32 && (!f.residual || f.residual_type == DType::f32);
  for (int64_t c = 0; c < f.columns; c += kLanes) {
    const int n = static_cast<int>(f.columns - c < kLanes ? f.columns - c : kLanes);
    const Vec bias = f.bias ? load_as(f.bias, f.bias_type, c, n) : zero();
    if (all_f32 && n == kLanes) {
      finish_f32<activation, accuracy>(f, c, bias, tail);
      continue;
    }
    const Vec gate_bias = f.gate_bias ? load_as(f.gate_bias, f.bias_type, c, n) : zero();
    for (int64_t r = 0; r < f.rows; ++r) {
      Vec y = load_as(f.sums, DType::f32, r * f.width + c, n) + bias;
      if (f.gate)
        y = y * activate<activation, accuracy>(load_as(f.gate, DType::f32, r * f.width + c, n) + gate_bias);
      else
        y = activate<activation, accuracy>(y);
      if (f.residual) y = y + load_as(f.residual, f.residual_type, r * f.residual_stride + c, n);
      store_as(f.out, f.out_type, r * f.out_stride + c, Tail::apply(tail, y), n);
    }
  }
}

// Loads sums whose bits are i32, or f32.
template <bool integers>
RUNG_SIMD Vec load_sums(const float* sums, int n) {
  if constexpr (integers) return n == kLanes ? load_integers(sums) : load_integers(sums, n);
  return load_part(sums, n);
}

// Finishes sums that are multiplied by scales or a factor.
template <Activation activation, Accuracy accuracy, bool integers>
void finish_scaled(const gemm::Finish& f) {
  for (int64_t c = 0; c < f.columns; c += kLanes) {
    const int n = static_cast<int>(f.columns - c < kLanes ? f.columns - c : kLanes);
    const Vec bias = f.bias ? load_as(f.bias, f.bias_type, c, n) : zero();
    const Vec gate_bias = f.gate_bias ? load_as(f.gate_bias, f.bias_type, c, n) : zero();
    const Vec scale = f.scale ? load_part(f.scale + c, n) : set1(1);
    const Vec gate_scale = f.gate_scale ? load_part(f.gate_scale + c, n) : set1(1);
    for (int64_t r = 0; r < f.rows; ++r) {
      const Vec of_row = set1(f.x_scale ? f.x_scale[r] : 1.0f);
      Vec y = fma(load_sums<integers>(f.sums + r * f.width + c, n) * scale, of_row, bias);
      if (f.gate)
        y = y * activate<activation, accuracy>(
                    fma(load_sums<integers>(f.gate + r * f.width + c, n) * gate_scale, of_row, gate_bias));
      else
        y = activate<activation, accuracy>(y);
      if (f.residual) y = y + load_as(f.residual, f.residual_type, r * f.residual_stride + c, n);
      store_as(f.out, f.out_type, r * f.out_stride + c, y * set1(f.factor), n);
    }
  }
}

template <Activation activation, Accuracy accuracy>
void finish_with(const gemm::Finish& f) {
  if (!f.scale && f.factor == 1) return finish_as<activation, accuracy>(f);
  f.sums_are_integers ? finish_scaled<activation, accuracy, true>(f) : finish_scaled<activation, accuracy, false>(f);
}

template <Accuracy accuracy>
void finish_at(const gemm::Finish& f) {
  if (f.tail) return finish_as<Activation::none, accuracy, LineTail>(f);
  switch (f.activation) {
    case Activation::none:
      return finish_with<Activation::none, accuracy>(f);
#define RUNG_ACTIVATION(kind) \
  case Activation::kind:      \
    return finish_with<Activation::kind, accuracy>(f);
#include "ir/functions.inc"
  }
}

// A bf16 result keeps 8 bits and one of f16 keeps 11, so the coarse activations (good to 4e-5) suffice for them.
static void finish(const gemm::Finish& f) {
  f.out_type == DType::f32 ? finish_at<Accuracy::full>(f) : finish_at<Accuracy::coarse>(f);
}

#if defined(__AVX512F__)
// Copies i8 as they are, or 128 above.
static void copy_bytes(const gemm::CopyRows& c) {
  const Ints flip = c.to_type == DType::u8 ? _mm512_set1_epi8(INT8_MIN) : _mm512_setzero_si512();
  const auto lanes = [](int64_t n) { return n >= 64 ? ~__mmask64{0} : n <= 0 ? 0 : (__mmask64{1} << n) - 1; };
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t k = 0; k < c.padded; k += 64) {
      const auto* from = static_cast<const int8_t*>(c.from) + r * c.from_stride + k;
      auto* to = static_cast<int8_t*>(c.to) + r * c.to_stride + k;
      const Ints bytes = _mm512_maskz_loadu_epi8(lanes(c.columns - k), from);
      _mm512_mask_storeu_epi8(to, lanes(c.padded - k), _mm512_xor_si512(bytes, flip));
    }
}
#endif

static void copy_rows(const gemm::CopyRows& c) {
#if defined(__AVX512F__)
  if (c.to_type == DType::i8 || c.to_type == DType::u8) return copy_bytes(c);
#endif
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t k = 0; k < c.padded; k += kLanes) {
      const int64_t have = c.columns - k, want = c.padded - k;
      const int n = static_cast<int>(have < 0 ? 0 : have < kLanes ? have : kLanes);
      const Vec v = n > 0 ? load_as(c.from, c.from_type, r * c.from_stride + k, n) : zero();
      store_as(c.to, c.to_type, r * c.to_stride + k, v, static_cast<int>(want < kLanes ? want : kLanes));
    }
}

#if defined(__AVX512F__)
// The lanes of two vectors that make each of three interleaved ones: of the first two columns, then of these and the
// third.
struct Interleaving {
  int32_t two[3][kLanes], third[3][kLanes];
  constexpr Interleaving() : two(), third() {
    for (int i = 0; i < 3; ++i)
      for (int lane = 0; lane < kLanes; ++lane) {
        const int row = (i * kLanes + lane) / 3, column = (i * kLanes + lane) % 3;
        two[i][lane] = column == 1 ? kLanes + row : row;
        third[i][lane] = column == 2 ? kLanes + row : lane;
      }
  }
};

// Interleaves three dense columns, such as the colours of an image. Returns the rows that it made.
static int64_t interleave_three(const gemm::CopyRows& c) {
  static constexpr Interleaving kLanesOf;
  const auto* from = static_cast<const float*>(c.from);
  auto* to = static_cast<float*>(c.to);
  int64_t row = 0;
  for (; row + kLanes <= c.rows; row += kLanes) {
    const Vec first = load(from + row), second = load(from + row + c.from_column),
              third = load(from + row + 2 * c.from_column);
    for (int i = 0; i < 3; ++i)
      store(to + row * 3 + i * kLanes,
            _mm512_permutex2var_ps(_mm512_permutex2var_ps(first, _mm512_loadu_si512(kLanesOf.two[i]), second),
                                   _mm512_loadu_si512(kLanesOf.third[i]), third));
  }
  return row;
}
#endif

// Gathers a vector at a time; places repeat after as many vectors as there are columns.
static bool gather_rows(const gemm::CopyRows& c) {
  constexpr int64_t kMostColumns = 16, kFar = INT64_C(1) << 26;
  if (c.columns > kMostColumns || c.from_column > kFar || c.from_stride > kFar) return false;
  if (c.from_type != DType::f32 || c.to_type != DType::f32 || c.padded != c.columns || c.to_stride != c.columns)
    return false;
  int32_t places[kMostColumns * kLanes];
  int32_t* place = places;
  for (int64_t row = 0; row < kLanes; ++row)
    for (int64_t i = 0; i < c.columns; ++i) *place++ = static_cast<int32_t>(row * c.from_stride + i * c.from_column);
  const auto* from = static_cast<const float*>(c.from);
  auto* to = static_cast<float*>(c.to);
  int64_t row = 0;
#if defined(__AVX512F__)
  if (c.columns == 3 && c.from_stride == 1) row = interleave_three(c);
#endif
  for (; row + kLanes <= c.rows; row += kLanes)
    for (int64_t i = 0; i < c.columns; ++i)
      store(to + row * c.columns + i * kLanes, gather(from + row * c.from_stride, places + i * kLanes));
  for (; row < c.rows; ++row)
    for (int64_t i = 0; i < c.columns; ++i) to[row * c.columns + i] = from[row * c.from_stride + i * c.from_column];
  return true;
}

}  // namespace rung::cpu::RUNG_ISA
