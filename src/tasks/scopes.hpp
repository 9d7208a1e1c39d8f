// A model by its author's scopes: the launches that do the work of each, with the ops of the model that they took in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "plan/build.hpp"

namespace rung::tasks {

// An op of the model.
struct ScopedOp {
  std::string op, label;
};

struct ScopedLaunch {
  std::string kernel;
  std::string label;           // of the op that does most of its work
  std::string type;            // of its result
  std::vector<ScopedOp> took;  // in the model's order; none: a copy, or work that a pass added
};

// A part of the model: a word of its labels.
struct Scope {
  std::string name;                    // the last word; "" for the whole model
  std::vector<ScopedLaunch> launches;  // of this scope itself, in the plan's order
  std::vector<Scope> scopes;           // inside, in the plan's order
  size_t all_launches() const;
  size_t all_ops() const;  // that those launches took in
};

// Returns the scopes of a plan. `model` is the graph that it was built from.
Scope scopes_of(const Graph& model, const Built& built);
nlohmann::json to_json(const Scope& scope);

}  // namespace rung::tasks
