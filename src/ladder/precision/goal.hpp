// The error that a climb may add to a model's answers, as its caller states it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/status.hpp"

namespace rung {

// Limits of a plan's error against the f32 reference, each for the worst of all verification inputs. All that are given
// hold together; none: the climb keeps the model's precision.
struct PrecisionGoal {
  std::optional<double> rel_l2;  // most, of each output: |got - want| / |want|
  std::optional<double> cosine;  // least, of each output
  std::optional<double> kl;      // most, of the output "logits": mean_divergence() in nats
  bool any() const { return rel_l2 || cosine || kl; }
  friend bool operator==(const PrecisionGoal&, const PrecisionGoal&) = default;
};

// The output whose distributions `kl` compares.
inline constexpr const char* kLogits = "logits";

// An error as a judge measures it: the worst over inputs and, except for kl, over outputs.
struct MeasuredError {
  double rel_l2 = 0, cosine = 1;
  double kl = 0;  // 0 unless a goal asks for it
};

// Returns which limit the error exceeds: "relative L2 error 0.031, wanted at most 0.02"; empty: none.
std::string missed(const PrecisionGoal& goal, const MeasuredError& error);

// Checks that a plan in which no part was narrowed has an error within the goal. Errors: it has not (mismatch); the
// message says that no plan has a smaller one.
Status check_reach(const PrecisionGoal& goal, const MeasuredError& least);

// Returns the relative L2 error at which a search for the goal begins: the goal's own, or, for vectors at that cosine
// that differ by an error at right angles, tan of their angle; the smaller one of both, and 1 without either.
double first_limit(const PrecisionGoal& goal);

}  // namespace rung
