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

// Loads elements i .. i+n-1 of f32, bf16 or f16, where n is at most a vector; n <= 0 loads none.
RUNG_SIMD Vec load_as(const void* p, DType type, int64_t i, int n) {
  if (type == DType::f32) return load_part(static_cast<const float*>(p) + i, n);
  if (type == DType::bf16) return load_part(reinterpret_cast<const bf16*>(bits_of(p) + i), n);
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

// Finishes a full vector of columns, all f32, without a gate, as in most tiles. The general loop would cost 5 % of a
// k = 384 product.
template <Activation activation, Accuracy accuracy>
RUNG_SIMD void finish_f32(const gemm::Finish& f, int64_t c, Vec bias) {
  const float* sums = f.sums + c;
  const float* residual = f.residual ? static_cast<const float*>(f.residual) + c : nullptr;
  float* out = static_cast<float*>(f.out) + c;
  for (int64_t r = 0; r < f.rows; ++r) {
    Vec y = activate<activation, accuracy>(load(sums + r * f.width) + bias);
    if (residual) y = y + load(residual + r * f.residual_stride);
    store(out + r * f.out_stride, y);
  }
}

template <Activation activation, Accuracy accuracy>
void finish_as(const gemm::Finish& f) {
  const bool all_f32 = !f.gate && f.out_type == DType::f32 && (!f.residual || f.residual_type == DType::f32);
  for (int64_t c = 0; c < f.columns; c += kLanes) {
    const int n = static_cast<int>(f.columns - c < kLanes ? f.columns - c : kLanes);
    const Vec bias = f.bias ? load_as(f.bias, f.bias_type, c, n) : zero();
    if (all_f32 && n == kLanes) {
      finish_f32<activation, accuracy>(f, c, bias);
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
      store_as(f.out, f.out_type, r * f.out_stride + c, y, n);
    }
  }
}

template <Accuracy accuracy>
void finish_at(const gemm::Finish& f) {
  switch (f.activation) {
    case Activation::none:
      return finish_as<Activation::none, accuracy>(f);
#define RUNG_ACTIVATION(kind) \
  case Activation::kind:      \
    return finish_as<Activation::kind, accuracy>(f);
#include "ir/functions.inc"
  }
}

// A bf16 result keeps 8 bits and one of f16 keeps 11, so the coarse activations (good to 4e-5) suffice for them.
static void finish(const gemm::Finish& f) {
  f.out_type == DType::f32 ? finish_at<Accuracy::full>(f) : finish_at<Accuracy::coarse>(f);
}

static void copy_rows(const gemm::CopyRows& c) {
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t k = 0; k < c.padded; k += kLanes) {
      const int64_t have = c.columns - k, want = c.padded - k;
      const int n = static_cast<int>(have < 0 ? 0 : have < kLanes ? have : kLanes);
      const Vec v = n > 0 ? load_as(c.from, c.from_type, r * c.from_stride + k, n) : zero();
      store_as(c.to, c.to_type, r * c.to_stride + k, v, static_cast<int>(want < kLanes ? want : kLanes));
    }
}

}  // namespace rung::cpu::RUNG_ISA
