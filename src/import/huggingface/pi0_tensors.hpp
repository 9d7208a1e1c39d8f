// The places of a Pi0 checkpoint's tensors: openpi's names, LeRobot's prefix, LeRobot's layout before 0.4.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "import/checkpoint.hpp"

namespace rung::huggingface {

struct Pi0Tensors {
  std::string root;       // "" or "model": the prefix of action_in_proj, action_out_proj, ...
  std::string vision;     // ...vision_tower.vision_model
  std::string projector;  // ...multi_modal_projector.linear
  std::string language;   // holds layers.0, norm
  std::string expert;     // the same
  std::string embedding;  // the token table: embed_tokens, or lm_head, which is tied to it
};

Pi0Tensors find_pi0_tensors(const Checkpoint& checkpoint);
// Tells whether inference does not read a tensor: final prefix norm, expert head, the tied table's twin, normalisation.
bool pi0_may_ignore(const Pi0Tensors& tensors, const std::string& name);

}  // namespace rung::huggingface
