// What tests of passes share: text in, text out, and equal values before and after on random inputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "passes/pass.hpp"
#include "passes/runner.hpp"
#include "reference/sequence.hpp"

namespace rung::test {

using PassFunction = Status (*)(Graph&, PassContext&);

// Parses; every constant without values becomes a literal of reproducible random numbers.
Graph graph_of(std::string_view text);
// "y = add(x, mul(w, 2))": outputs as nested expressions; inputs and constants by name, one-element literals by value.
std::string expression(const Graph& graph);
size_t count_ops(const Graph& graph, std::string_view op_name);

struct PassRun {
  Graph graph;
  std::vector<std::string> notes;
  std::vector<Miss> misses;
};
// Runs one pass with the runner's checks (verify, clean-up).
PassRun run_pass(PassFunction pass, Graph graph, const KernelQuery& has_kernel = {}, const Precision& precision = {},
                 int64_t row_bytes = 1);

void expect_rewrite(PassFunction pass, std::string_view before, std::string_view after);
void expect_unchanged(PassFunction pass, std::string_view text);
// Both graphs give outputs within `tolerance` (relative L2) on random inputs; inputs that `after` lacks are not its
// business.
void expect_same_values(const Graph& before, const Graph& after, double tolerance = 1e-6);
// Returns the values of the first output of all runs, one after another: each sees the states that those before left.
std::vector<float> answers_of(const Graph& graph, const std::vector<NamedTensors>& runs);
// The pass changes the graph and keeps its values.
void expect_equivalent(PassFunction pass, std::string_view text, double tolerance = 1e-6);

}  // namespace rung::test
