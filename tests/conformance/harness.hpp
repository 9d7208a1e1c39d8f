// Runs one kernel row on one problem as a session would, and keeps watch over the memory around what it may write.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "base/status.hpp"
#include "ir/graph.hpp"
#include "kernels/cpu/bind.hpp"

namespace rung::test {

// A problem; once it is answered, with values for its inputs and the answer that the reference evaluator gives.
struct Case {
  std::string text;
  Graph graph;
  NodeId node = kNoNode;  // the op under test
  std::map<std::string, Tensor, std::less<>> inputs;
  std::vector<Tensor> expected;  // all results of the op
  Problem problem;
};

// A case without inputs and answers. Errors: the text is no graph.
Result<Case> parse_case(const std::string& text);
// An answered one; fails the running test when the text is wrong.
Case make_case(const std::string& text);

// One for every text of problems(), or for those of the part that RUNG_TEST_PART names: 2/8 is every eighth of
// each op's, from the second on, so that a slow checker may take parts side by side. They are made once, without
// answers, which take seconds to compute.
const std::vector<Case>& unanswered_cases();
const std::vector<Case>& unanswered_cases_of(std::string_view op);  // those of one family of ops
bool takes_part();                                                  // is RUNG_TEST_PART set?
Case with_inputs(Case test);                                        // one of them with values, yet without an answer

// The case with inputs and answers, computed when it is first asked for. `asked` is one of a list that is made once.
// Errors: its op has no answer for these values.
const Result<Case>& answered(const Case& asked);

struct Outcome {
  std::vector<Tensor> outputs;
  bool in_bounds = false;   // guard bytes around output and scratch untouched
  bool repeatable = false;  // a second call gave the same bits, all of its parts done by one thread
  bool cut_freely = false;  // a call cut into more parts gave the same bits
  Fault fault = Fault::none;
};
Outcome run_row(const Kernel& kernel, const Case& test, int threads);

// The results where a call's memory for them has them.
// Returns the results: those in `memory`, then the operands that the op updated.
std::vector<Tensor> read_results(const Case& test, const std::byte* memory, const std::vector<Tensor>& updated);
size_t result_bytes(const Case& test);

// "" when results are as close to those expected as their precision allows, else what is wrong.
std::string difference(const std::vector<Tensor>& got, const Case& test);

}  // namespace rung::test
