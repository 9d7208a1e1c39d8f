// The layers of Pi0, written call by call as eager code runs them: SigLIP's, Gemma's and their shared attention.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "import/huggingface/attention.hpp"
#include "import/huggingface/pi0_config.hpp"

namespace rung::huggingface {

// The keys and values T[1,heads,S,head_dim] of one or more key heads.
struct KeyValue {
  NodeId k = kNoNode, v = kNoNode;
};

// The values that all layers of one pass share.
struct GemmaPass {
  Rotary rotary;
  NodeId mask;                 // f32[1,1,S,keys], added to the scores
  NodeId condition = kNoNode;  // f32[1,width], what norms and residuals depend on beside their weights
  // Stores own keys and values in a cache, and returns all that it has; none: there is no cache.
  std::function<KeyValue(const KeyValue& own)> remember = {};
};

struct VisionModules {
  Module tower, projector;
  DType dtype;
};
// Builds image f32[1,3,H,W] -> T[1,patches,prefix width].
NodeId write_vision_tower(ModuleBuilder& w, const Pi0Config& c, const VisionModules& modules, NodeId image);

class GemmaLayer {
 public:
  GemmaLayer(ModuleBuilder& writer, const GemmaConfig& config, Module module)
      : w_(writer), c_(config), m_(std::move(module)) {}
  // Writes a layer for x T[1,S,width]; its keys and values include those of `past`, if any. Returns the next x.
  NodeId write(NodeId x, const GemmaPass& pass, const KeyValue& past, KeyValue* present);

 private:
  NodeId attention(NodeId x, const GemmaPass& pass, const KeyValue& past, KeyValue* present);
  NodeId mlp(NodeId x);
  NodeId residual(NodeId x, NodeId y, NodeId gate);

  ModuleBuilder& w_;
  const GemmaConfig& c_;
  Module m_;
};

struct Normed {
  NodeId x;
  NodeId gate = kNoNode;  // T[width], the factor of what is added to the residual; none: 1
};
// Returns x * rsqrt(mean(x^2) + 1e-6) * (1 + weight), in f32, rounded to x's type. Under a condition it is ... * (1 +
// scale) + shift, where scale, shift and gate are the parts of a linear of the condition.
Normed write_rms_norm(ModuleBuilder& w, const Module& module, NodeId x, NodeId condition = kNoNode);

}  // namespace rung::huggingface
