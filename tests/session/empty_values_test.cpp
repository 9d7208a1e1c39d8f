// Values without elements on every recorder: inputs and outputs keep them, and what is computed from them is right.
// SPDX-License-Identifier: Apache-2.0
#include "plan/check.hpp"
#include "reference/evaluate.hpp"
#include "session/on_devices.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

// One graph for each way in which an op meets a value without elements.
constexpr const char* kGraphs[] = {
    "x: f32[0,4] = input()\nreturn y=x",
    "x: f32[0,4] = input()\nreturn y=exp(x)",
    "x: f32[2,3] = input()\nreturn y=exp(x), none=slice(x, begin=1, end=1)",
    "x: f32[3,4] = input()\npast: f32[0,4] = input()\nreturn y=neg(concat(past, x))",
    "x: f32[3,4] = input()\npast: f32[0,4] = input()\nreturn y=concat(x, exp(past))",
    "x: f32[4] = input()\nrows: f32[0,4] = input()\nreturn y=add(x, reduce(rows, kind=sum, axis=0))",
    "a: f32[2,0] = input()\nb: f32[0,3] = input()\nx: f32[3] = input()\nreturn y=add(matmul(a, b), x)",
    "a: f32[0,4] = input()\nb: f32[4,3] = input()\nreturn y=matmul(a, b)",
    "x: f32[0,8] = input()\nw: f32[8] = input()\nb: f32[8] = input()\nreturn y=layer_norm(x, w, b)",
    "x: f32[2,0] = input()\nreturn y=softmax(x)",
    "t: f32[4,2] = input()\ni: i64[0] = input()\nreturn y=gather(t, i, axis=0)",
    "x: f32[2,4] = input()\nreturn y=cast(slice(x, axis=1, begin=2, end=2), to=bf16)",
    "x: f32[2,1,4] = input()\ny: f32[0,4] = reshape(slice(x, end=0), shape=[0,4])\nreturn y=y",
    "q: f32[1,2,4,8] = input()\nk: f32[1,0,4,8] = input()\nreturn y=attention(q, k, k)",
    "q: f32[1,2,4,8] = input()\npast: f32[1,0,4,8] = input()\nk: f32[1,3,4,8] = input()\n"
    "return y=attention(q, past, past, k, k, segments=2)",
    "x: f32[1,0,4] = input()\nm: f32[1,0] = input()\nb: f32[1,4] = input()\nreturn y=add(masked_mean(x, m), b)",
};

class EmptyValues : public OnDevices {
 protected:
  static NamedTensors inputs_of(const Graph& graph) {
    NamedTensors inputs;
    for (NodeId id : graph.inputs()) {
      const std::string& name = graph.as<Input>(id)->name;
      inputs.emplace(name, random_tensor(name, graph.type(id)));
    }
    return inputs;
  }
  void expect_as_the_judge(const char* text, bool as_written) {
    SCOPED_TRACE(text);
    const Graph graph = graph_of(text);
    const NamedTensors inputs = inputs_of(graph);
    const auto wanted = evaluate(graph, inputs);
    ASSERT_TRUE(wanted) << wanted.error().message;
    const Recipe recipe{.as_written = as_written, .capture = GetParam().capture, .threads = on_gpu() ? 0 : 2};
    auto built = build_plan(graph, recipe, {.target = target_});
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_TRUE(check_plan(built->plan));
    Session session = open(std::make_shared<Plan>(std::move(built->plan)));
    const auto got = session.infer(inputs);
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->size(), wanted->size());
    for (size_t i = 0; i < wanted->size(); ++i) {
      EXPECT_EQ((*got)[i].second.type(), (*wanted)[i].type());
      EXPECT_LE(relative_l2((*got)[i].second, (*wanted)[i]), 1e-6);
    }
  }
};

TEST_P(EmptyValues, AreWhatTheJudgeSays) {
  for (const char* text : kGraphs) expect_as_the_judge(text, false);
}

TEST_P(EmptyValues, AreSoInGraphsAsWritten) {
  for (const char* text : kGraphs) expect_as_the_judge(text, true);
}

TEST_P(EmptyValues, AreRefusedWhereNoValueIsRight) {
  const char* rowless = "t: f32[0,2] = input()\ni: i64[1] = input()\nreturn y=gather(t, i, axis=0)";
  const auto built = build_plan(graph_of(rowless), {.threads = on_gpu() ? 0 : 2}, {.target = target_});
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().message, HasSubstr("gather"));
  EXPECT_THAT(built.error().message, HasSubstr("of f32[0,2], i64[1], wanted at least one element in each"));
}

TEST_P(EmptyValues, AreNoStates) {
  const char* text =
      "x: f32[2] = input()\ns: f32[0] = input()\n"
      "state s, next=n, initial=constant(values=[])\nreturn y=neg(x), n=neg(s)";
  const auto built = build_plan(graph_of(text), {.threads = on_gpu() ? 0 : 2}, {.target = target_});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message, "state 's': got f32[0], wanted at least one element");
}

INSTANTIATE_TEST_SUITE_P(Recorders, EmptyValues,
                         ::testing::Values(Where{On::processor, false}, Where{On::processor, true},
                                           Where{On::fake, false}, Where{On::fake, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, EmptyValues, ::testing::Values(Where{On::device, false}, Where{On::device, true}));

}  // namespace
}  // namespace rung
