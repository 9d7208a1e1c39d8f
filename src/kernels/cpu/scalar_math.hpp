// The element-wise functions on one value, as the op definitions say; for reference rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>

#include "ir/op.hpp"

namespace rung::cpu {

inline float scalar_gelu(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678f)); }
inline float scalar_gelu_tanh(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}
inline float scalar_silu(float x) { return x / (1.0f + std::exp(-x)); }

inline float scalar(UnaryKind kind, float x) {
  switch (kind) {
    case UnaryKind::neg:
      return -x;
    case UnaryKind::abs:
      return std::abs(x);
    case UnaryKind::exp:
      return std::exp(x);
    case UnaryKind::log:
      return std::log(x);
    case UnaryKind::sqrt:
      return std::sqrt(x);
    case UnaryKind::rsqrt:
      return 1.0f / std::sqrt(x);
    case UnaryKind::reciprocal:
      return 1.0f / x;
    case UnaryKind::square:
      return x * x;
    case UnaryKind::sin:
      return std::sin(x);
    case UnaryKind::cos:
      return std::cos(x);
    case UnaryKind::tanh:
      return std::tanh(x);
    case UnaryKind::erf:
      return std::erf(x);
    case UnaryKind::sigmoid:
      return 1.0f / (1.0f + std::exp(-x));
    case UnaryKind::relu:
      return x < 0.0f ? 0.0f : x;
    case UnaryKind::silu:
      return scalar_silu(x);
    case UnaryKind::gelu:
      return scalar_gelu(x);
    case UnaryKind::gelu_tanh:
      return scalar_gelu_tanh(x);
    case UnaryKind::logical_not:
      return x == 0.0f ? 1.0f : 0.0f;
  }
  return x;
}

// Integers wrap around.
inline int64_t wrapped(uint64_t x) { return static_cast<int64_t>(x); }
inline uint64_t bits(int64_t x) { return static_cast<uint64_t>(x); }

// The kinds that integers have.
inline int64_t scalar(UnaryKind kind, int64_t x) {
  switch (kind) {
    case UnaryKind::neg:
      return -x;
    case UnaryKind::abs:
      return x < 0 ? wrapped(-bits(x)) : x;
    case UnaryKind::square:
      return wrapped(bits(x) * bits(x));
    case UnaryKind::relu:
      return std::max<int64_t>(x, 0);
    case UnaryKind::logical_not:
      return x == 0;
    default:
      return x;
  }
}

inline float power(float x, float y) { return std::pow(x, y); }
inline int64_t power(int64_t x, int64_t) { return x; }  // floats only
inline float quotient(float x, float y) { return x / y; }
inline int64_t quotient(int64_t x, int64_t y) { return y == 0 ? 0 : y == -1 ? wrapped(-bits(x)) : x / y; }
inline float plus(float x, float y) { return x + y; }
inline int64_t plus(int64_t x, int64_t y) { return wrapped(bits(x) + bits(y)); }
inline float times(float x, float y) { return x * y; }
inline int64_t times(int64_t x, int64_t y) { return wrapped(bits(x) * bits(y)); }
inline float minus(float x, float y) { return x - y; }
inline int64_t minus(int64_t x, int64_t y) { return wrapped(bits(x) - bits(y)); }
inline bool is_nan(float x) { return std::isnan(x); }
inline bool is_nan(int64_t) { return false; }
// NaN if either is NaN, as frameworks have it.
template <class T>
T larger(T x, T y) {
  return is_nan(x) ? x : (x < y || is_nan(y)) ? y : x;
}
template <class T>
T smaller(T x, T y) {
  return is_nan(x) ? x : (y < x || is_nan(y)) ? y : x;
}

template <class T>
T scalar(BinaryKind kind, T x, T y) {
  switch (kind) {
    case BinaryKind::add:
      return plus(x, y);
    case BinaryKind::sub:
      return minus(x, y);
    case BinaryKind::mul:
      return times(x, y);
    case BinaryKind::div:
      return quotient(x, y);
    case BinaryKind::pow:
      return power(x, y);
    case BinaryKind::max:
      return larger(x, y);
    case BinaryKind::min:
      return smaller(x, y);
    case BinaryKind::eq:
      return x == y;
    case BinaryKind::ne:
      return x != y;
    case BinaryKind::lt:
      return x < y;
    case BinaryKind::le:
      return x <= y;
    case BinaryKind::gt:
      return x > y;
    case BinaryKind::ge:
      return x >= y;
    case BinaryKind::logical_and:
      return x != T{} && y != T{};
    case BinaryKind::logical_or:
      return x != T{} || y != T{};
  }
  return x;
}

inline float scalar(Activation activation, float x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return scalar(UnaryKind::relu, x);
    case Activation::gelu:
      return scalar_gelu(x);
    case Activation::gelu_tanh:
      return scalar_gelu_tanh(x);
    case Activation::silu:
      return scalar_silu(x);
    case Activation::tanh:
      return std::tanh(x);
  }
  return x;
}

}  // namespace rung::cpu
