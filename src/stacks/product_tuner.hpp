// Tunes products one at a time, until the time is up, and compares each winner with the library's default.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/budget.hpp"
#include "stacks/stack.hpp"
#include "stacks/tune.hpp"
#include "tune/tuner.hpp"

namespace rung::stacks {

// How a pair of trials is taken.
inline constexpr double kPairSeconds = 0.006;  // of each
inline constexpr double kPairHangSeconds = 5;
inline constexpr size_t kColdWeights = SIZE_MAX;  // a model's are more than caches hold

class ProductTuner {
 public:
  struct Options {
    const Target& target;
    const Stack* stack = nullptr;  // that is to run what is chosen; null: anything may be
    const Budget& clock;
    std::function<bool()> interrupted;
  };
  ProductTuner(TuningDatabase& database, Options options) : database_(database), options_(std::move(options)) {}

  // Tunes a product: an entry that the database knows for sure is not searched again, but compared again. `problem`: of
  // the product.
  void tune(const Problem& problem, TunedProduct& product);
  bool out_of_time() const { return options_.clock.left() <= 0 || options_.interrupted(); }

 private:
  Rows rows() const { return options_.stack ? options_.stack->rows : Rows::all; }
  std::optional<KernelChoice> best_other(const TunedProblem& entry, const KernelChoice& standard) const;
  void compare(const TuneTask& task, const std::vector<KernelCandidate>& both, TunedProduct& product);

  TuningDatabase& database_;
  Options options_;
};

// Is there memory for a problem's operands, of which trials make several copies? No: with the amounts.
Verdict fits(const Problem& problem, const Target& target);

}  // namespace rung::stacks
