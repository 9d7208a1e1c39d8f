// The numbers of functions in the programs of the element-wise interpreters, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

enum class Code : uint8_t {
#define RUNG_UNARY(kind, ...) kind,
#include "ir/functions.inc"
#define RUNG_BINARY(kind, ...) kind,
#include "ir/functions.inc"
  select,
  round_bf16,
  round_f16,
  copy,
};

constexpr int kUnaryFunctions = 0
#define RUNG_UNARY(...) +1
#include "ir/functions.inc"
    ;

constexpr int operands_of(Code code) {
  if (code == Code::select) return 3;
  return code < Code::select && static_cast<int>(code) >= kUnaryFunctions ? 2 : 1;
}

}  // namespace rung
