// How far the rounding of f32 moves a model's answers: its length, and its condition.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/interrupted.hpp"
#include "ir/graph.hpp"
#include "measure/compare.hpp"
#include "reference/sequence.hpp"

namespace rung {

// The sum of reduction lengths along the graph's longest path: what f32 rounding can grow with.
int64_t longest_reduction_path(const Graph& graph);

// How far answers are from those without rounding, the worst over inputs and outputs, as Comparison tells it.
struct Sway {
  double rel_l2 = 0, element = 0;
};

// The longest path says how rounding errors add up, and not how a model magnifies them: with large weights, a softmax
// that is nearly a choice, or sums that nearly cancel, right f32 answers are further from the reference than that.
// This measures it. What an op computes in f32 is what exact arithmetic gives for operands that are off by the op's own
// rounding (Wilkinson's backward error): a share of at most (4 + sqrt(k)) u of each element, where it adds up k terms,
// the bound of tolerance_for(). So the reference is evaluated again with every computed or given f32 operand of every
// op that computes moved by that share, up or down at random; what comes out is as far from the reference as f32 may
// put it, whatever the graph does to an error on its way. No plan has a part in it: a wrong plan makes it no larger.
//
// `exact` holds the reference's answers without rounding, run by run. Errors: an op's; interrupted.
Result<Sway> rounding_sway(const Graph& reference, const std::vector<SequenceRun>& exact,
                           const Interrupted& interrupted = {});

// An answer that is further off than this is wrong, whatever the condition.
inline constexpr double kMostSway = 0.01;
// Where rounding alone moves answers further than that, no comparison in f32 can judge them.
inline bool can_judge(const Sway& sway) { return sway.rel_l2 <= kMostSway; }
// `by_length`, or four times the sway where that is more and can_judge(): one draw tells the size of the error, not its
// largest value.
Tolerance tolerance_for_sway(const Tolerance& by_length, const Sway& sway);

}  // namespace rung
