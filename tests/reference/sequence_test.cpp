// Where sequences of runs begin, and what a run is judged by.
// SPDX-License-Identifier: Apache-2.0
#include "reference/sequence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/graphs.hpp"

namespace rung {
namespace {

using testing::ElementsAre;

const char* const kSum =
    "x: f32[2] = input()\n"
    "sum: f32[2] = input()\n"
    "state sum, next=sum_next, initial=constant(values=[0,0])\n"
    "n: f32[2] = add(sum, x)\n"
    "return y=neg(n), sum_next=n";

NamedTensors ones() { return {{"x", Tensor::of<float>({2}, {1, 1})}}; }

std::vector<float> first_of(const std::vector<SequenceRun>& runs) {
  std::vector<float> values;
  for (const SequenceRun& run : runs) values.push_back(run.outputs[0].as<float>()[0]);
  return values;
}

TEST(Sequences, BeginWithGivenStates) {
  const Graph graph = graph_of(kSum);
  const SequenceStart start{.states = {{"sum", Tensor::of<float>({2}, {5, 5})}}};
  const auto runs = evaluate_sequence(graph, {ones(), ones()}, {}, start);
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_THAT(first_of(*runs), ElementsAre(-6, -7));
}

TEST(Sequences, BeginAgainAfterTheirRuns) {
  const auto runs = evaluate_sequence(graph_of(kSum), {ones(), ones(), ones()}, {}, {.states = {}, .runs = 2});
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_THAT(first_of(*runs), ElementsAre(-1, -2, -1));
}

TEST(Sequences, RefuseStatesOfAnotherShape) {
  const auto runs =
      evaluate_sequence(graph_of(kSum), {ones()}, {}, {.states = {{"sum", Tensor::of<float>({3}, {1, 2, 3})}}});
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().message, "state 'sum': got f32[3], wanted f32[2]");
}

// An encoder makes states that it does not read; its decoder reads them, and does not make them.
TEST(Sequences, CountStatesThatAreMadeAsAnswers) {
  const Graph maker = graph_of(
      "x: f32[2] = input()\n"
      "keys: f32[2] = input()\n"
      "state keys, next=keys_next\n"
      "return y=neg(x), keys_next=exp(x)");
  const auto made = evaluate_sequence(maker, {{{"x", Tensor::of<float>({2}, {0, 0})}}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made_states(maker), ElementsAre("keys"));
  const auto all = answers(maker, (*made)[0].outputs);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].as<float>()[0], 1);

  const Graph reader = graph_of(
      "x: f32[2] = input()\n"
      "keys: f32[2] = input()\n"
      "state keys, next=keys_next\n"
      "return y=add(x, keys), keys_next=keys");
  EXPECT_TRUE(made_states(reader).empty());
  const auto unread = evaluate_sequence(reader, {ones()});
  ASSERT_FALSE(unread);
  EXPECT_THAT(unread.error().message, testing::HasSubstr("state 'keys' has no initial value"));
}

}  // namespace
}  // namespace rung
