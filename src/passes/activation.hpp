// Which unary functions can be a kernel's activation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/op.hpp"

namespace rung::passes {

inline std::optional<Activation> activation_of(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::relu:
      return Activation::relu;
    case UnaryKind::gelu:
      return Activation::gelu;
    case UnaryKind::gelu_tanh:
      return Activation::gelu_tanh;
    case UnaryKind::silu:
      return Activation::silu;
    case UnaryKind::tanh:
      return Activation::tanh;
    default:
      return std::nullopt;
  }
}

}  // namespace rung::passes
