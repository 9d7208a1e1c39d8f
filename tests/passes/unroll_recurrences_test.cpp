// unroll_recurrences: steps in place of recurrences that the device has no kernel for, with the same values.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::unroll_recurrences;

const std::string kLstm = "recurrence(x:f32[3,2,12], w:f32[12,3], h:f32[2,3], c:f32[2,3]";
const KernelQuery kNever = [](const Op&, std::span<const Type>) { return reject("no"); };

void expect_steps(const std::string& text) {
  const Graph before = graph_of(text);
  const Graph after = run_pass(unroll_recurrences, before, kNever).graph;
  EXPECT_EQ(count_ops(after, "recurrence"), 0u) << text;
  expect_same_values(before, after);
}

TEST(UnrollRecurrences, KeepsThemWhereAKernelTakesAllSteps) {
  expect_unchanged(unroll_recurrences, "y = " + kLstm + ")");
}
TEST(UnrollRecurrences, StepsGiveTheSameValues) {
  for (const char* way : {")", ", backward=true)"}) {
    expect_steps("a = " + kLstm + way + "\nreturn a=a, c=result(a), both=tanh(result(a))");
    expect_steps(std::string("y = recurrence(x:f32[4,2,9], w:f32[9,3], h:f32[2,3], b:f32[3], cell=gru") + way);
    expect_steps(std::string("y = recurrence(x:f32[4,2,3], w:f32[3,3], h:f32[2,3], cell=rnn") + way);
  }
}
TEST(UnrollRecurrences, KeepsThoseOfTooManySteps) {
  const Graph graph = graph_of("y = recurrence(x:f32[5000,1,1], w:f32[1,1], h:f32[1,1], cell=rnn)");
  EXPECT_EQ(count_ops(run_pass(unroll_recurrences, graph, kNever).graph, "recurrence"), 1u);
}

}  // namespace
}  // namespace rung::test
