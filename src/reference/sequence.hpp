// Evaluates runs of a graph with states one after another: each run finds the states as the one before left them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "reference/evaluate.hpp"

namespace rung {

// Where a sequence of runs begins, and how many runs it has.
struct SequenceStart {
  NamedTensors states;     // values before the first run; a state that is not named begins with its initial value
  size_t runs = SIZE_MAX;  // the run after that many begins again: a cache has no room for more
  bool begins(size_t run) const { return run % runs == 0; }
};

struct SequenceRun {
  NamedTensors inputs;          // the caller's, and the states before the run
  std::vector<Tensor> outputs;  // of the graph, in order, including the states' next values
};

// Errors: those of evaluate(); a state that has neither a value to begin with nor an initial one, and is read.
Result<std::vector<SequenceRun>> evaluate_sequence(const Graph& graph, const std::vector<NamedTensors>& inputs,
                                                   const EvaluateOptions& options = {},
                                                   const SequenceStart& start = {});

// Returns the outputs that a caller gets: all except the states' next values.
std::vector<Tensor> callers_outputs(const Graph& graph, const std::vector<Tensor>& outputs);

// Returns the names of the states that a run of the graph makes and does not read, such as those that an encoder leaves
// for its decoder: they are its answers as much as its outputs are.
std::vector<std::string> made_states(const Graph& graph);
// Returns what a run is judged by: the caller's outputs, then those states.
std::vector<Tensor> answers(const Graph& graph, const std::vector<Tensor>& outputs);
// Returns the names of those outputs and states, in the order of answers().
std::vector<std::string> answer_names(const Graph& graph);

}  // namespace rung
