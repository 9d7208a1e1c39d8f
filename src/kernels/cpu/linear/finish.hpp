// The end of a tile of sums (bias, activation, gate, residual, rounding). Included by one file per instruction set.
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

// Vectors of i32, and their sums as f32.
#if defined(__AVX512F__)
RUNG_SIMD Ints load_i32(const void* p, int n) { return _mm512_maskz_loadu_epi32(first(n), p); }
RUNG_SIMD Vec sum_of(Ints a, Ints b) { return _mm512_cvtepi32_ps(_mm512_add_epi32(a, b)); }
#else
RUNG_SIMD Ints load_i32(const void* p, int n) {
  return _mm256_maskload_epi32(static_cast<const int*>(p), _mm256_castps_si256(first(n)));
}
RUNG_SIMD Vec sum_of(Ints a, Ints b) { return _mm256_cvtepi32_ps(_mm256_add_epi32(a, b)); }
#endif

// Loads sums whose bits are i32, to which the integers are added, or f32, which have none.
template <bool integers>
RUNG_SIMD Vec load_sums(const float* sums, Ints added, int n) {
  if constexpr (integers) return sum_of(load_i32(sums, n), added);
  return load_part(sums, n);
}

RUNG_SIMD Vec load_weights(const float* w) { return load(w); }
RUNG_SIMD Vec load_weights(const uint16_t* bits) { return load(reinterpret_cast<const bf16*>(bits)); }

// Sums of the products of outliers for a vector of columns in a few rows. Each vector of w is loaded once for these
// rows, whose sums do not wait for each other.
struct OutlierSums {
  static constexpr int kRows = 4;
  Vec at[kRows];

  template <int rows, class W>
  RUNG_SIMD void multiply(OutlierSums& sums, const float* x, int64_t count, const W* w, int64_t width) {
    Vec y[rows];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) y[i] = zero();
    for (int64_t j = 0; j < count; ++j) {
      const Vec of_w = load_weights(w + j * width);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) y[i] = fma(set1(x[i * count + j]), of_w, y[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) sums.at[i] = y[i];
  }
  template <class W>
  RUNG_SIMD void start_as(OutlierSums& sums, const gemm::Finish& f, const W* w, int64_t row) {
    const float* x = f.x_outliers + row * f.outliers;
    if (f.rows - row >= kRows) return multiply<kRows>(sums, x, f.outliers, w, f.width);
    for (int64_t i = 0; i < f.rows - row; ++i) {
      OutlierSums one;
      multiply<1>(one, x + i * f.outliers, f.outliers, w, f.width);
      sums.at[i] = one.at[0];
    }
  }
  // Makes those of kRows rows, or as many as there are. `w`: one of the finish.
  RUNG_SIMD void start(OutlierSums& sums, const gemm::Finish& f, const void* w, int64_t column, int64_t row) {
    if (f.outliers_type == DType::bf16) return start_as(sums, f, bits_of(w) + column, row);
    start_as(sums, f, static_cast<const float*>(w) + column, row);
  }
};

// The bias of columns, of floats or of integers; the other one is zeros.
struct ColumnBias {
  Vec floats = zero();
  Ints integers = no_size();
  RUNG_SIMD ColumnBias of(const void* bias, DType type, int64_t column, int n) {
    ColumnBias made;
    if (bias && type == DType::i32) made.integers = load_i32(static_cast<const int32_t*>(bias) + column, n);
    if (bias && type != DType::i32) made.floats = load_as(bias, type, column, n);
    return made;
  }
};

// Finishes sums that are multiplied by scales or a factor.
template <Activation activation, Accuracy accuracy, bool integers, bool outliers>
void finish_scaled(const gemm::Finish& f) {
  OutlierSums of_up, of_gate;
  for (int64_t c = 0; c < f.columns; c += kLanes) {
    const int n = static_cast<int>(f.columns - c < kLanes ? f.columns - c : kLanes);
    const ColumnBias bias = ColumnBias::of(f.bias, f.bias_type, c, n);
    const ColumnBias gate_bias = ColumnBias::of(f.gate_bias, f.bias_type, c, n);
    const Vec scale = f.scale ? load_part(f.scale + c, n) : set1(1);
    const Vec gate_scale = f.gate_scale ? load_part(f.gate_scale + c, n) : set1(1);
    for (int64_t r = 0; r < f.rows; ++r) {
      const int64_t held = r % OutlierSums::kRows;
      if (outliers && held == 0) OutlierSums::start(of_up, f, f.w_outliers, c, r);
      if (outliers && held == 0 && f.gate) OutlierSums::start(of_gate, f, f.gate_outliers, c, r);
      const Vec of_row = set1(f.x_scale ? f.x_scale[r] : 1.0f);
      Vec y = fma(load_sums<integers>(f.sums + r * f.width + c, bias.integers, n) * scale, of_row, bias.floats);
      if (outliers) y = y + of_up.at[held];
      if (f.gate) {
        Vec gate = fma(load_sums<integers>(f.gate + r * f.width + c, gate_bias.integers, n) * gate_scale, of_row,
                       gate_bias.floats);
        if (outliers) gate = gate + of_gate.at[held];
        y = y * activate<activation, accuracy>(gate);
      } else {
        y = activate<activation, accuracy>(y);
      }
      if (f.residual) y = y + load_as(f.residual, f.residual_type, r * f.residual_stride + c, n);
      store_as(f.out, f.out_type, r * f.out_stride + c, y * set1(f.factor), n);
    }
  }
}

template <Activation activation, Accuracy accuracy, bool integers>
void finish_scaled(const gemm::Finish& f) {
  f.outliers > 0 ? finish_scaled<activation, accuracy, integers, true>(f)
                 : finish_scaled<activation, accuracy, integers, false>(f);
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

}  // namespace rung::cpu::RUNG_ISA
