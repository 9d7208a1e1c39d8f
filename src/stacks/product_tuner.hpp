// Tunes products one at a time, until the time is up, and compares each winner with the library's default.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/budget.hpp"
#include "stacks/stack.hpp"
#include "stacks/tune.hpp"
#include "tune/tuner.hpp"

namespace rung::stacks {

// Parameters of a pair of trials.
inline constexpr double kPairSeconds = 0.006;  // for each trial
inline constexpr double kPairHangSeconds = 5;
inline constexpr size_t kColdWeights = SIZE_MAX;  // a model's weights exceed all caches

class ProductTuner {
 public:
  struct Options {
    const Target& target;
    const Stack* stack = nullptr;  // runs the chosen kernels; null: any choice is allowed
    const Budget& clock;
    std::function<bool()> interrupted;
  };
  ProductTuner(TuningDatabase& database, Options options) : database_(database), options_(std::move(options)) {}

  // Tunes a product. It does not search a product whose entry in the database is certain, but compares it again.
  // `problem` is the product's.
  void tune(const Problem& problem, TunedProduct& product);
  bool out_of_time() const { return options_.clock.left() <= 0 || options_.interrupted(); }

 private:
  Rows rows() const { return options_.stack ? options_.stack->rows : Rows::all; }
  std::optional<KernelChoice> best_other(const TunedProblem& entry, const KernelChoice& standard) const;
  void compare(const TuneTask& task, const std::vector<KernelCandidate>& both, TunedProduct& product);

  TuningDatabase& database_;
  Options options_;
};

// Accepts a problem if there is memory for its operands, which trials copy several times; a refusal gives amounts.
Verdict fits(const Problem& problem, const Target& target);

}  // namespace rung::stacks
