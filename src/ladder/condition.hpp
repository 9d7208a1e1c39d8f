// The effect of f32 rounding on a model's answers: its length, and its condition.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/interrupted.hpp"
#include "ir/graph.hpp"
#include "measure/compare.hpp"
#include "reference/sequence.hpp"

namespace rung {

// Returns the sum of reduction lengths along the graph's longest path, with which f32 rounding can grow.
int64_t longest_reduction_path(const Graph& graph);
// Returns that sum by node; paths begin again behind the nodes of `begins`, by node.
std::vector<int64_t> reduction_paths(const Graph& graph, const std::vector<bool>& begins = {});

// The distance of answers from those without rounding, the worst over inputs and outputs, in Comparison's terms.
struct Sway {
  double rel_l2 = 0, element = 0;
};

// Measures how a model magnifies rounding errors; the longest path says only how they add up. With large weights, a
// softmax that is nearly a choice, or sums that nearly cancel, right f32 answers are further from the reference than
// the path says. An op's f32 result is what exact arithmetic gives for operands that are off by the op's own rounding
// (Wilkinson's backward error): a share of at most (4 + sqrt(k)) u of each element, if it adds up k terms, the bound of
// tolerance_for(). So the reference is evaluated again with every computed or given f32 operand of every op that
// computes inexactly moved by that share, up or down at random; the answers are as far from the reference as f32 may
// put them, whatever the graph does to an error on its way. No plan has a part in this: a wrong plan makes the sway no
// larger.
//
// `exact` holds the reference's answers without rounding, run by run of a sequence that begins as `start` says. Errors:
// an op's; interrupted.
Result<Sway> rounding_sway(const Graph& reference, const std::vector<SequenceRun>& exact,
                           const Interrupted& interrupted = {}, const SequenceStart& start = {});

// Moves the operands of a node as rounding_sway() does.
void move_operands(const Graph& graph, NodeId id, std::vector<Tensor>& operands);

// An answer that is further off than this is wrong, whatever the condition.
inline constexpr double kMostSway = 0.01;
// Returns whether comparisons in f32 can judge the answers: not if rounding alone moves them further than kMostSway.
inline bool can_judge(const Sway& sway) { return sway.rel_l2 <= kMostSway; }
// Returns `by_length`, or four times the sway, at most kMostSway, if that is more and can_judge(): one draw tells the
// size of the error, not its largest value.
Tolerance tolerance_for_sway(const Tolerance& by_length, const Sway& sway);

}  // namespace rung
