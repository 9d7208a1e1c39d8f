// Which states are kept in the type of their readers.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"
#include "reference/sequence.hpp"

namespace rung::test {
namespace {

using passes::narrow_states;

// A cache of two rows, of which a run writes one; `readers` make y of `after`.
std::string cache(const std::string& readers) {
  return "k: f32[2,2] = input()\nat: i64[1] = input()\nrow: f32[1,2] = input()\nafter = scatter(k, at, row)\n" +
         readers + "\nstate k, next=k_next, initial=constant(values=[1.00390625,2,3,4])\nreturn y=y, k_next=after";
}
const std::string kRead = cache("y = exp(cast(reshape(after, shape=[4]), to=bf16))");

std::vector<float> results_of_two_runs(const Graph& graph) {
  const NamedTensors first{{"at", Tensor::of<int64_t>({1}, {1})}, {"row", Tensor::of<float>({1, 2}, {0.3f, -1.7f})}};
  const NamedTensors second{{"at", Tensor::of<int64_t>({1}, {0})}, {"row", Tensor::of<float>({1, 2}, {2.1f, 0.9f})}};
  const auto runs = evaluate_sequence(graph, {first, second});
  EXPECT_TRUE(runs) << runs.error().message;
  std::vector<float> all;
  for (const SequenceRun& run : *runs) {
    const Tensor y = convert(run.outputs[0], DType::f32);
    all.insert(all.end(), y.as<float>().begin(), y.as<float>().end());
  }
  return all;
}

TEST(NarrowStates, KeepsWhatReadersRound) {
  const PassRun run = run_pass(narrow_states, graph_of(kRead));
  EXPECT_EQ(expression(run.graph),
            "y = exp(reshape(scatter(k, at, cast(row, to=bf16)), shape=[4])); "
            "k_next = scatter(k, at, cast(row, to=bf16))");
  EXPECT_EQ(run.graph.type(run.graph.input_named("k")), (Type{DType::bf16, {2, 2}}));
  const auto initial = run.graph.states()[0].initial->load();
  ASSERT_TRUE(initial);
  const auto exact = convert(*initial, DType::f32);
  EXPECT_EQ(exact.as<float>()[0], 1.0f) << "rounded to nearest even";
  EXPECT_EQ(exact.as<float>()[3], 4.0f);
  EXPECT_EQ(results_of_two_runs(run.graph), results_of_two_runs(graph_of(kRead)));
}

TEST(NarrowStates, LeavesWhatSomeoneReadsAsItIs) {
  for (const char* readers :
       {"y = exp(after)", "r = cast(after, to=bf16)\ny = add(cast(r), after)", "y = add(cast(after, to=bf16), cast(k, to=bf16))",
        "r = cast(after, to=bf16)\ny = add(cast(r), cast(cast(after, to=f16)))", "y = cast(after, to=i64)"})
    expect_unchanged(narrow_states, cache(readers));
}

TEST(NarrowStates, LeavesSums) {
  expect_unchanged(narrow_states,
                   "k: f32[2,2] = input()\nat: i64[1] = input()\nrow: f32[1,2] = input()\n"
                   "after = scatter(k, at, row, kind=add)\ny = exp(cast(after, to=bf16))\n"
                   "state k, next=k_next, initial=constant(values=[1,2,3,4])\nreturn y=y, k_next=after");
}

}  // namespace
}  // namespace rung::test
