// Errors of a plan over inputs of many seeds: how far the worst one is from the usual one, and in which of a policy's
// steps the error grows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "ladder/workbench.hpp"

namespace rung::tasks {

// Relative L2 errors of one output, or of one inner value that the model watches, over inputs.
struct ValueErrors {
  std::string name;
  double worst = 0, mean = 0;
  uint64_t worst_seed = 0;
};

// Two values of the model's watched ones, one behind the other in its order, between which the mean error grows by the
// largest factor.
struct ErrorGrowth {
  std::string from, to;
  double factor = 0;
};

struct SeedErrors {
  std::vector<uint64_t> frozen, fresh;           // seeds: the ones of every verification, and those drawn now
  std::vector<ValueErrors> of_frozen, of_fresh;  // outputs, then what is watched
  std::optional<ErrorGrowth> growth;             // none: nothing is watched, or it has no error
};

// A sample of each seed is in memory until the last one is judged.
inline constexpr int64_t kMostSeeds = 10'000;

// Returns that many seeds from `first` on, or from one that is drawn, of which none is frozen.
std::vector<uint64_t> fresh_seeds(size_t count, std::optional<uint64_t> first);

// Measures the recipe's plan with the watched values as outputs; the bench's inputs are those of the frozen seeds, then
// those of the fresh ones, and its reference has the watched values as outputs. Errors: those of building and running.
Result<SeedErrors> errors_over_seeds(Workbench& bench, const Recipe& recipe, std::vector<uint64_t> fresh);
nlohmann::json to_json(const SeedErrors& errors);

}  // namespace rung::tasks
