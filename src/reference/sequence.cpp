// Evaluates runs in sequence and carries states from each run to the next.
// SPDX-License-Identifier: Apache-2.0
#include "reference/sequence.hpp"

#include <algorithm>

namespace rung {
namespace {

Result<NamedTensors> initial_values(const Graph& graph) {
  NamedTensors values;
  for (const State& state : graph.states()) {
    if (!state.initial)
      return mismatch("state '{}' has no initial value: a run of another graph must write it first", state.input);
    RUNG_TRY(values[state.input], state.initial->load());
  }
  return values;
}

}  // namespace

Result<std::vector<SequenceRun>> evaluate_sequence(const Graph& graph, const std::vector<NamedTensors>& inputs,
                                                   const EvaluateOptions& options) {
  RUNG_TRY(NamedTensors states, initial_values(graph));
  std::vector<SequenceRun> runs;
  for (const NamedTensors& given : inputs) {
    SequenceRun run{.inputs = given, .outputs = {}};
    for (const auto& [name, value] : states) run.inputs.insert_or_assign(name, value);
    RUNG_TRY(run.outputs, evaluate(graph, run.inputs, options));
    for (const State& state : graph.states()) {
      const auto next = std::ranges::find(graph.outputs(), state.next, &Output::name);
      states[state.input] = run.outputs[static_cast<size_t>(next - graph.outputs().begin())];
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<Tensor> callers_outputs(const Graph& graph, const std::vector<Tensor>& outputs) {
  std::vector<Tensor> callers;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!graph.is_next(graph.outputs()[i].name)) callers.push_back(outputs[i]);
  return callers;
}

}  // namespace rung
