// The places of a normalisation's operands, for rows that take several normalisations.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/problem.hpp"

namespace rung {

// Places are indices of Problem::inputs and Call::inputs; -1: absent.
struct NormOperands {
  int residual = -1, weight = -1, bias = -1;

  explicit NormOperands(const Problem& problem) {
    if (const auto* layer_norm = as<LayerNorm>(problem.op)) {
      const LayerNormSlots& slots = layer_norm->slots;
      residual = slots.at(LayerNormSlot::residual);
      weight = slots.at(LayerNormSlot::weight), bias = slots.at(LayerNormSlot::bias);
    } else if (as<RmsNorm>(problem.op)) {
      weight = 1;
    }
  }
};

}  // namespace rung
