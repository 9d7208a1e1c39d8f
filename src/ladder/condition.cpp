// Walks the graph to find its length, and evaluates it with moved operands to find its condition.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/condition.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "ir/semantics.hpp"

namespace rung {
namespace {

constexpr double kHeadroom = 4;
constexpr double kUnit = 0x1p-24;            // of f32
constexpr float kLargestInteger = 0x1p+24F;  // up to which f32 has all of them

// Makes every element of a copy larger or smaller by `share` of itself. Zeros, infinities, NaNs, and elements that
// would overflow stay.
Tensor moved(const Tensor& tensor, float share, uint64_t seed) {
  Tensor copy(tensor.type());
  const auto from = tensor.as<float>();
  auto to = copy.as<float>();
  for (size_t i = 0; i < from.size(); ++i) {
    const float factor = random_bits(seed, i) & 1 ? 1 + share : 1 - share, value = from[i] * factor;
    to[i] = std::isfinite(value) ? value : from[i];
  }
  return copy;
}

bool holds_integers(const Tensor& tensor) {
  return tensor.dtype() == DType::f32 && std::ranges::all_of(tensor.as<float>(), [](float x) {
           return !std::isfinite(x) || (std::abs(x) <= kLargestInteger && x == std::nearbyint(x));
         });
}

// Returns whether an op's result is the exact one: that of a comparison, of an op which gives one of its operands, or
// of a sum of integers. So values are rounded to steps, in which a move would be one of whole steps.
bool is_exact(const Op& op, const Type& result, std::span<const Tensor> operands) {
  if (!is_float(result.dtype)) return true;
  if (const auto* unary = std::get_if<Unary>(&op))
    return unary->kind == UnaryKind::neg || unary->kind == UnaryKind::abs || unary->kind == UnaryKind::relu;
  const auto* binary = std::get_if<Binary>(&op);
  if (!binary) return false;
  if (binary->kind == BinaryKind::max || binary->kind == BinaryKind::min) return true;
  const bool sums = binary->kind == BinaryKind::add || binary->kind == BinaryKind::sub;
  return sums && std::ranges::all_of(operands, holds_integers);
}

}  // namespace

// A weight stays: it is enough that its products' other operand is moved.
void move_operands(const Graph& graph, NodeId id, std::vector<Tensor>& operands) {
  const Semantics semantics = semantics_of(graph, id);
  if (semantics.flops <= 0) return;  // it moves values, and rounds none
  if (is_exact(graph[id].op, graph.type(id), operands)) return;
  const auto share =
      static_cast<float>((4 + std::sqrt(static_cast<double>(std::max<int64_t>(semantics.terms, 1)))) * kUnit);
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].dtype() == DType::f32 && !graph.is_constant(graph[id].operands[i]))
      operands[i] = moved(operands[i], share, random_bits(id, i));
}

std::vector<int64_t> reduction_paths(const Graph& graph, const std::vector<bool>& begins) {
  std::vector<int64_t> path(graph.capacity());
  for (NodeId id : graph.order()) {
    if (id < begins.size() && begins[id]) continue;
    int64_t before = 0;
    for (NodeId operand : graph[id].operands) before = std::max(before, path[operand]);
    const Semantics semantics = semantics_of(graph, id);
    path[id] = before + (is_float(semantics.accumulator) ? semantics.terms : 0);  // integers are exact
  }
  return path;
}

int64_t longest_reduction_path(const Graph& graph) {
  int64_t longest = 1;
  for (const int64_t path : reduction_paths(graph)) longest = std::max(longest, path);
  return longest;
}

Result<Sway> rounding_sway(const Graph& reference, const std::vector<SequenceRun>& exact,
                           const Interrupted& interrupted, const SequenceStart& start) {
  const EvaluateOptions options{.interrupted = interrupted, .change = [&](NodeId id, std::vector<Tensor>& operands) {
                                  move_operands(reference, id, operands);
                                }};
  Sway sway;
  std::vector<NamedTensors> inputs;
  for (const SequenceRun& run : exact) inputs.push_back(run.inputs);
  RUNG_TRY(auto moved_runs, evaluate_sequence(reference, inputs, options, start));
  for (size_t i = 0; i < exact.size(); ++i) {
    const auto wanted = answers(reference, exact[i].outputs);
    const auto got = answers(reference, moved_runs[i].outputs);
    for (size_t answer = 0; answer < got.size(); ++answer) {
      const Comparison apart = compare("", got[answer], wanted[answer], {INFINITY, INFINITY});
      sway.rel_l2 = std::max(sway.rel_l2, apart.rel_l2);
      sway.element = std::max(sway.element, apart.worst_element);
    }
  }
  return sway;
}

Tolerance tolerance_for_sway(const Tolerance& by_length, const Sway& sway) {
  if (!can_judge(sway)) return by_length;
  const auto wider = [](double length, double moved) {
    return std::max(length, std::min(kHeadroom * moved, kMostSway));
  };
  return {wider(by_length.rel_l2, sway.rel_l2), wider(by_length.element, sway.element)};
}

}  // namespace rung
