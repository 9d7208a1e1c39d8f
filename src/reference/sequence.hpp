// Evaluates runs of a graph with states one after another: each run finds the states as the one before left them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "reference/evaluate.hpp"

namespace rung {

struct SequenceRun {
  NamedTensors inputs;          // the caller's, and the states before the run
  std::vector<Tensor> outputs;  // of the graph, in order, including the states' next values
};

// The first run starts from the states' initial values. Errors: those of evaluate(); a state without an initial value.
Result<std::vector<SequenceRun>> evaluate_sequence(const Graph& graph, const std::vector<NamedTensors>& inputs,
                                                   const EvaluateOptions& options = {});

// Returns the outputs that a caller gets: all except the states' next values.
std::vector<Tensor> callers_outputs(const Graph& graph, const std::vector<Tensor>& outputs);

}  // namespace rung
