// The functions that ops choose among, by the words that text has for them; device code has the same numbers from here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

// clang-format off
#define RUNG_UNARY_KINDS \
  neg, abs, exp, log, sqrt, rsqrt, reciprocal, square, sin, cos, tanh, erf, sigmoid, relu, silu, gelu, gelu_tanh, \
  logical_not
#define RUNG_BINARY_KINDS add, sub, mul, div, pow, max, min, eq, ne, lt, le, gt, ge, logical_and, logical_or
// clang-format on

namespace rung {

enum class UnaryKind : uint8_t { RUNG_UNARY_KINDS };
enum class BinaryKind : uint8_t { RUNG_BINARY_KINDS };
enum class ReduceKind : uint8_t { sum, mean, max };
enum class Activation : uint8_t { none, relu, gelu, gelu_tanh, silu, tanh };

}  // namespace rung
