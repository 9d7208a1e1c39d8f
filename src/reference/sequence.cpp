// Evaluates runs in sequence and carries states from each run to the next.
// SPDX-License-Identifier: Apache-2.0
#include "reference/sequence.hpp"

#include <algorithm>

namespace rung {
namespace {

const Tensor& next_of(const Graph& graph, const State& state, const std::vector<Tensor>& outputs) {
  const auto next = std::ranges::find(graph.outputs(), state.next, &Output::name);
  return outputs[static_cast<size_t>(next - graph.outputs().begin())];
}

bool is_read(const Graph& graph, const State& state) {
  const NodeId input = graph.input_named(state.input);
  return !graph[input].users.empty() || graph.is_output(input);
}

Result<NamedTensors> first_values(const Graph& graph, const SequenceStart& start) {
  NamedTensors values;
  for (const State& state : graph.states()) {
    if (const auto given = start.states.find(state.input); given != start.states.end()) {
      const Type& wanted = graph.type(graph.input_named(state.input));
      if (given->second.shape() != wanted.shape)
        return mismatch("state '{}': got {}, wanted {}", state.input, given->second.type(), wanted);
      values[state.input] =
          given->second.dtype() == wanted.dtype ? given->second : convert(given->second, wanted.dtype);
    } else if (state.initial) {
      RUNG_TRY(values[state.input], state.initial->load());
    } else if (is_read(graph, state)) {
      return mismatch("state '{}' has no initial value: a run of another graph must write it first", state.input);
    } else {
      values[state.input] = Tensor(graph.type(graph.input_named(state.input)));
    }
  }
  return values;
}

}  // namespace

Result<std::vector<SequenceRun>> evaluate_sequence(const Graph& graph, const std::vector<NamedTensors>& inputs,
                                                   const EvaluateOptions& options, const SequenceStart& start) {
  NamedTensors states;
  std::vector<SequenceRun> runs;
  for (const NamedTensors& given : inputs) {
    if (start.begins(runs.size())) {
      RUNG_TRY(states, first_values(graph, start));
    }
    SequenceRun run{.inputs = given, .outputs = {}};
    for (const auto& [name, value] : states) run.inputs.insert_or_assign(name, value);
    RUNG_TRY(run.outputs, evaluate(graph, run.inputs, options));
    for (const State& state : graph.states()) states[state.input] = next_of(graph, state, run.outputs);
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

std::vector<std::string> made_states(const Graph& graph) {
  std::vector<std::string> names;
  for (const State& state : graph.states())
    if (!is_read(graph, state)) names.push_back(state.input);
  return names;
}

std::vector<Tensor> answers(const Graph& graph, const std::vector<Tensor>& outputs) {
  std::vector<Tensor> all = callers_outputs(graph, outputs);
  for (const State& state : graph.states())
    if (!is_read(graph, state)) all.push_back(next_of(graph, state, outputs));
  return all;
}

std::vector<std::string> answer_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Output& output : graph.outputs())
    if (!graph.is_next(output.name)) names.push_back(output.name);
  for (std::string& name : made_states(graph)) names.push_back(std::move(name));
  return names;
}

}  // namespace rung
