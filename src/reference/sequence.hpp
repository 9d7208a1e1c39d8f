// Runs one after another of a graph with states: each finds them as the one before left them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "reference/evaluate.hpp"

namespace rung {

struct SequenceRun {
  NamedTensors inputs;          // those given, and the states as the run finds them
  std::vector<Tensor> outputs;  // of the graph, in order; what states become among them
};

// From the states' initial values on. Errors: those of evaluate(); a state without an initial value.
Result<std::vector<SequenceRun>> evaluate_sequence(const Graph& graph, const std::vector<NamedTensors>& inputs,
                                                   const EvaluateOptions& options = {});

// The outputs that a caller gets: without what states become.
std::vector<Tensor> callers_outputs(const Graph& graph, const std::vector<Tensor>& outputs);

}  // namespace rung
