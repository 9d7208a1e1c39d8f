// The functions that ops choose among; device code takes the same numbers from here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

enum class UnaryKind : uint8_t {
#define RUNG_UNARY(kind, ...) kind,
#include "ir/functions.inc"
};
enum class BinaryKind : uint8_t {
#define RUNG_BINARY(kind, ...) kind,
#include "ir/functions.inc"
};
enum class Activation : uint8_t {
  none,
#define RUNG_ACTIVATION(kind) kind,
#include "ir/functions.inc"
};
enum class ReduceKind : uint8_t { sum, mean, max };

}  // namespace rung
