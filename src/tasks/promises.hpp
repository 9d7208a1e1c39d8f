// Promises: the attentions, norms and projections that the names of a model's parts announce, found or not.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "plan/build.hpp"

namespace rung::tasks {

struct Promise {
  std::string scope;   // "layers.0.self_attn"; of projections with their names: "layers.0.self_attn.{q_proj,k_proj}"
  std::string what;    // "attention", "norm", "one product"
  bool found = false;  // an op for it does it; of an attention no softmax is left beside it
  std::string by;      // its kernel; not found: the launches that do it, and why, where a pass says so
};

// Returns what the labels of `model` promise, in the model's order. A scope promises an attention if its name says so
// and a softmax or an attention stands in it; a norm if its name says so; one product if projections stand in it that
// models name together (q, k and v; gate and up) and that read one value.
std::vector<Promise> promises_of(const Graph& model, const Built& built);
nlohmann::json to_json(const std::vector<Promise>& promises);

}  // namespace rung::tasks
