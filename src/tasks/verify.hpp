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
#include "tasks/seeds.hpp"

namespace rung::tasks {

struct VerifyTask {
  OpenOptions model;
  std::optional<Recipe> recipe;
  GivenArrays reference;                   // outputs to compare with; none: those of a directory's reference
  std::map<std::string, std::string> map;  // output -> its array in `reference`, where names differ
  size_t seeds = 0;                        // fresh ones, of further inputs against the reference
  std::optional<uint64_t> first_seed;      // of them; none: it is drawn
  bool bisect = false;                     // against the reference: looks for the culprit of a mismatch
  Interrupted interrupted = {};
};

struct Verified {
  Verification verification;  // of several inputs, a failed one, if any
  Tolerance tolerance;
  std::string reason;                    // the comparison made: "3 inputs against the reference in f64"
  std::optional<Culprit> culprit;        // if it was looked for
  std::string reproducer;                // the graph before the culprit, as text
  std::vector<PrecisionCost> precision;  // if the recipe gives several precisions
  std::optional<SeedErrors> seeds;       // if fresh ones were asked for
};

inline constexpr int64_t kDeepSum = 16384;  // terms on the longest path of a deep graph

// Returns how far the answers of a deep graph that computes in that precision may be from exact ones.
Tolerance tolerance_of_graph(DType precision);

// A failed verification is no error. Errors: those of opening, building and running; a plan without arrays to compare
// with, an unknown output in `map` (usage); an array that is missing or of another shape (mismatch); interrupted.
Result<Verified> verify(const VerifyTask& task);
nlohmann::json to_json(const Verified& verified);
nlohmann::json outputs_json(const Verification& verification);

// Runs all plans in turn `count` times or until interrupted, and compares bits. Errors: those of opening, building and
// running.
Result<Replays> verify_replays(const VerifyTask& task, int64_t count);
nlohmann::json to_json(const Replays& replays);

}  // namespace rung::tasks
