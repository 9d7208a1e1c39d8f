// Tells the layouts of Pi0 checkpoints apart.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/pi0_tensors.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace rung::huggingface {
namespace {

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

// Returns the first name that the checkpoint has, else the first of all, so that an error names the usual one.
std::string first_present(const Checkpoint& checkpoint, const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (checkpoint.contains(name)) return name;
  return names.front();
}

}  // namespace

Pi0Tensors find_pi0_tensors(const Checkpoint& checkpoint) {
  Pi0Tensors t;
  const std::string probe = ".layers.0.self_attn.q_proj.weight";
  // Pi0-FAST has LeRobot's layout since 0.4, and no projection of actions.
  const auto has = [&](const std::string& root) {
    return checkpoint.contains(join(root, "action_in_proj.weight")) ||
           checkpoint.contains(join(root, "paligemma_with_expert.paligemma.model.language_model" + probe));
  };
  t.root = !has("") && has("model") ? "model" : "";
  const std::string both = join(t.root, "paligemma_with_expert");
  const std::string now = both + ".paligemma.model", before = both + ".paligemma";
  bool old = !checkpoint.contains(now + ".language_model" + probe) &&
             checkpoint.contains(before + ".language_model.model" + probe);
  const std::string& base = old ? before : now;
  t.vision = base + ".vision_tower.vision_model";
  t.projector = base + ".multi_modal_projector.linear";
  t.language = base + (old ? ".language_model.model" : ".language_model");
  t.expert = both + ".gemma_expert.model";
  t.embedding = first_present(checkpoint, {t.language + ".embed_tokens.weight", before + ".lm_head.weight",
                                           before + ".language_model.lm_head.weight"});
  return t;
}

bool pi0_may_ignore(const Pi0Tensors& tensors, const std::string& name) {
  static constexpr std::string_view kStatistics[] = {"normalize_inputs.", "normalize_targets.", "unnormalize_outputs."};
  if (name == tensors.language + ".norm.weight" || name == tensors.language + ".embed_tokens.weight") return true;
  if (name == tensors.expert + ".embed_tokens.weight" || name.ends_with(".lm_head.weight")) return true;
  return std::ranges::any_of(kStatistics, [&](std::string_view s) { return name.starts_with(s); });
}

}  // namespace rung::huggingface
