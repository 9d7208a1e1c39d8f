// Compares a plan's outputs with given ones, with the reference's, or with themselves over many replays.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "ladder/bisect.hpp"
#include "ladder/judge.hpp"
#include "measure/compare.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"
#include "tasks/replays.hpp"

namespace rung::tasks {

struct VerifyTask {
  OpenOptions model;
  std::optional<Recipe> recipe;
  GivenArrays reference;                   // outputs to compare with; none: those of the reference, of a directory
  std::map<std::string, std::string> map;  // output -> its array in `reference`, where names differ
  bool bisect = false;                     // of the reference's: look for the culprit of a mismatch
  Interrupted interrupted = {};
};

struct Verified {
  Verification verification;  // of several inputs, one that failed, if any did
  Tolerance tolerance;
  std::string reason;                    // what it was compared with: "3 inputs against the reference in f64"
  std::optional<Culprit> culprit;        // where it was looked for
  std::string reproducer;                // the graph before it, as text
  std::vector<PrecisionCost> precision;  // of a recipe that says several things of it
};

inline constexpr int64_t kDeepSum = 16384;  // terms: of a deep graph's longest path

// A verification that fails is no error. Errors: those of opening, building and running; a plan without arrays to
// compare with, an output of `map` that there is not (usage); an array that is missing or of another shape (mismatch);
// interrupted.
Result<Verified> verify(const VerifyTask& task);
nlohmann::json to_json(const Verified& verified);
nlohmann::json outputs_json(const Verification& verification);

// Runs all plans in turn again and again, that often or until it is interrupted, and compares bits. Errors: those of
// opening, building and running.
Result<Replays> verify_replays(const VerifyTask& task, int64_t count);
nlohmann::json to_json(const Replays& replays);

}  // namespace rung::tasks
