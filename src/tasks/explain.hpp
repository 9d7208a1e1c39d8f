// Says why each pass did or did not apply, and why each kernel was or was not eligible; loads no weight.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "base/verdict.hpp"
#include "open/options.hpp"
#include "passes/runner.hpp"
#include "plan/recipe.hpp"
#include "tasks/promises.hpp"

namespace rung::tasks {

struct ExplainTask {
  OpenOptions model;
  std::optional<Recipe> recipe;  // none: all rungs that are not opt-in
};

// Launches that share a problem, and every kernel row of its family.
struct ExplainedProblem {
  std::string problem;
  int count = 0;
  std::vector<std::pair<std::string, Verdict>> kernels;
};

struct Explanation {
  PassReport passes;
  std::vector<ExplainedProblem> problems;
  std::vector<Promise> promises;
};

// Errors: those of opening, a plan (usage), a pass that fails.
Result<Explanation> explain(const ExplainTask& task);
nlohmann::json to_json(const Explanation& explanation);

}  // namespace rung::tasks
