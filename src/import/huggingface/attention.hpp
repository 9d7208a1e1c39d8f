// Attention as eager code computes it, with its masks and rotary positions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "import/huggingface/module_builder.hpp"

namespace rung::huggingface {

struct Heads {
  NodeId q, k, v;  // T[B,heads,S,head width], as many heads each
};
// Returns softmax(q k' / sqrt(head width) + mask) v with its heads merged: T[B,S,heads * head width]. The sum and the
// softmax are computed in the mask's type; kNoNode: no mask.
NodeId attend(ModuleBuilder& w, const Heads& heads, NodeId mask, const std::string& label);

// Returns T[B,1,1,S] from i64[B,S] of ones and zeros: 0 where a key is read, the lowest number of T where it is not.
NodeId padding_mask(ModuleBuilder& w, NodeId mask, DType dtype, const std::string& label);
// Returns the same as T[B,1,S,S] where query i reads only those keys j that `reads` takes.
NodeId limited_mask(ModuleBuilder& w, NodeId mask, DType dtype, const std::function<bool(int64_t i, int64_t j)>& reads);

struct Rotary {
  NodeId cos, sin;  // T[B or 1,1,S,head width]
};
struct RotaryConfig {
  int64_t head_width = 0;
  double base = 10000.0;
  DType dtype = DType::f32;  // of the result; angles are computed in f32
};
Rotary rotary_tables(ModuleBuilder& w, NodeId positions, const RotaryConfig& config, const std::string& label);
// Returns x T[B,heads,S,head width] with each pair of halves turned by its position's angle, computed in the type of
// the tables.
NodeId rotate(ModuleBuilder& w, NodeId x, const Rotary& rotary, const std::string& label);

}  // namespace rung::huggingface
