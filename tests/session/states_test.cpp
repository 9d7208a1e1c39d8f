// Values that outlive a run, on every recorder and between plans of one set: a run finds them as the last one left
// them.
// SPDX-License-Identifier: Apache-2.0
#include "session/states.hpp"

#include <cmath>

#include "plan/check.hpp"
#include "reference/sequence.hpp"
#include "session/on_devices.hpp"
#include "session/set_session.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

class StatesOf : public OnDevices {
 protected:
  std::shared_ptr<const Plan> plan_of_text(const char* text) {
    return plan(text, [](Plan&) {});
  }
  Values run(Session& session, const Values& x) {
    auto outputs = session.infer({{"x", Tensor::of<float>({static_cast<int64_t>(x.size())}, x)}});
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return {};
    const auto y = (*outputs)[0].second.as<float>();
    return {y.begin(), y.end()};
  }
};

// sum becomes sum + x, and y is what it becomes.
constexpr const char* kSum =
    "x: f32[2] = input()\n"
    "sum: f32[2] = input()\n"
    "state sum, next=sum_next, initial=constant(values=[10,20])\n"
    "n: f32[2] = add(sum, x)\n"
    "return y=mul(n, x), sum_next=n";

TEST_P(StatesOf, AreFoundAsTheLastRunLeftThem) {
  Session session = open(plan_of_text(kSum));
  EXPECT_EQ(session.plan().inputs.size(), 1u) << "a state is no caller's";
  EXPECT_EQ(session.plan().outputs.size(), 1u);
  EXPECT_THAT(run(session, {1, 2}), ElementsAre(11, 44));
  EXPECT_THAT(run(session, {1, 2}), ElementsAre(12, 48));
  EXPECT_THAT(session.state("sum")->as<float>(), ElementsAre(12, 24));
  ASSERT_TRUE(session.reset_states());
  EXPECT_THAT(run(session, {1, 2}), ElementsAre(11, 44));
}

TEST_P(StatesOf, OfAForkAreItsOwn) {
  auto first = SetSession::create(PlanSet(plan_of_text(kSum)));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(run(first->selected(), {1, 2}), ElementsAre(11, 44));
  auto second = first->fork();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_THAT(run(second->selected(), {10, 20}), ElementsAre(210, 840));
  EXPECT_THAT(run(first->selected(), {1, 2}), ElementsAre(12, 48)) << "the fork did not disturb it";
  EXPECT_THAT(run(second->selected(), {1, 2}), ElementsAre(22, 88));
}

TEST_P(StatesOf, SwapWithoutLosingOne) {
  Session session =
      open(plan_of_text("x: f32[2] = input()\n"
                        "a: f32[2] = input()\n"
                        "b: f32[2] = input()\n"
                        "state a, next=a_next, initial=constant(values=[1,2])\n"
                        "state b, next=b_next, initial=constant(values=[5,6])\n"
                        "return y=sub(a, mul(b, x)), a_next=b, b_next=a"));
  EXPECT_THAT(run(session, {0, 0}), ElementsAre(1, 2));
  EXPECT_THAT(run(session, {0, 0}), ElementsAre(5, 6));
  EXPECT_THAT(run(session, {0, 1}), ElementsAre(1, -4));
}

// The new value is made before the old one is read for the last time.
TEST_P(StatesOf, AreReadBeforeTheyAreWritten) {
  Session session =
      open(plan_of_text("x: f32[2] = input()\n"
                        "s: f32[2] = input()\n"
                        "state s, next=s_next, initial=constant(values=[3,4])\n"
                        "n: f32[2] = add(s, x)\n"
                        "e: f32[2] = exp(n)\n"
                        "y: f32[2] = add(mul(e, x), s)\n"
                        "return y=y, s_next=n"));
  EXPECT_THAT(run(session, {0, 0}), ElementsAre(3, 4));
  EXPECT_THAT(session.state("s")->as<float>(), ElementsAre(3, 4));
  EXPECT_THAT(run(session, {1, 1}),
              ElementsAre(FloatNear(std::exp(4.0f) + 3, 1e-3f), FloatNear(std::exp(5.0f) + 4, 1e-3f)));
  EXPECT_THAT(session.state("s")->as<float>(), ElementsAre(4, 5));
}

// A window of the last four values: what shifts is a view of the state itself.
TEST_P(StatesOf, ShiftWithinThemselves) {
  Session session =
      open(plan_of_text("x: f32[1] = input()\n"
                        "w: f32[4] = input()\n"
                        "state w, next=w_next, initial=constant(values=[0,0,0,0])\n"
                        "n: f32[4] = concat(slice(w, axis=0, begin=1, end=4), x, axis=0)\n"
                        "return y=neg(n), w_next=n"));
  EXPECT_EQ(session.plan().states[0].initial, Initial::zeros);
  run(session, {1}), run(session, {2});
  EXPECT_THAT(run(session, {3}), ElementsAre(0, -1, -2, -3));
  EXPECT_THAT(session.state("w")->as<float>(), ElementsAre(0, 1, 2, 3));
}

// Sets elements of a table that outlives runs: nothing else of it moves.
TEST_P(StatesOf, AreUpdatedInTheirOwnMemory) {
  Session session =
      open(plan_of_text("x: f32[2] = input()\n"
                        "t: f32[5] = input()\n"
                        "state t, next=t_next, initial=constant(values=[9,9,9,9,9])\n"
                        "n: f32[5] = scatter(t, cast(x, to=i64), x)\n"
                        "return y=neg(n), t_next=n"));
  const Plan& plan = session.plan();
  const auto update = std::ranges::find(plan.steps, "scatter", [](const Step& step) { return name_of(step.op); });
  ASSERT_NE(update, plan.steps.end());
  EXPECT_EQ(update->inputs[0].index, plan.states[0].buffer);
  const bool updates = plan.target->kernel_named(update->choice.kernel)->updates == 0;
  EXPECT_EQ(updates, GetParam().on != On::fake) << "its rows are made for no update";
  EXPECT_EQ(update->output.index == plan.states[0].buffer, updates);
  EXPECT_TRUE(check_plan(plan));
  EXPECT_THAT(run(session, {1, 3}), ElementsAre(-9, -1, -9, -3, -9));
  EXPECT_THAT(run(session, {4, 3}), ElementsAre(-9, -1, -9, -3, -4));
  EXPECT_THAT(session.state("t")->as<float>(), ElementsAre(9, 1, 9, 3, 4));
}

// A counter is not copied where a row reads each element before it writes it.
TEST_P(StatesOf, AreCountedInTheirOwnMemory) {
  Session session =
      open(plan_of_text("x: f32[3] = input()\n"
                        "c: i64[3] = input()\n"
                        "state c, next=c_next, initial=constant(values=[3,4,5])\n"
                        "return y=cast(c, to=f32), c_next=add(c, cast(x, to=i64))"));
  const Plan& plan = session.plan();
  const auto sum = std::ranges::find_if(plan.steps, [](const Step& step) { return as<Binary>(step.op) != nullptr; });
  ASSERT_NE(sum, plan.steps.end());
  const bool updates = plan.target->kernel_named(sum->choice.kernel)->updates == 0;
  EXPECT_EQ(updates, GetParam().on == On::device) << sum->choice.kernel;
  EXPECT_EQ(sum->output.index == plan.states[0].buffer, updates);
  EXPECT_EQ(plan.steps.size(), updates ? 3u : 4u) << "a copy follows where the row does not update";
  EXPECT_TRUE(check_plan(plan));
  EXPECT_THAT(run(session, {1, 0, 2}), ElementsAre(3, 4, 5));
  EXPECT_THAT(run(session, {1, 0, 2}), ElementsAre(4, 4, 7));
  EXPECT_THAT(session.state("c")->as<int64_t>(), ElementsAre(5, 4, 9));
}

TEST_P(StatesOf, AreNotUpdatedUnderALaterReader) {
  Session session =
      open(plan_of_text("x: f32[2] = input()\n"
                        "t: f32[5] = input()\n"
                        "state t, next=t_next, initial=constant(values=[9,9,9,9,9])\n"
                        "n: f32[5] = scatter(t, cast(x, to=i64), x)\n"
                        "return y=sub(exp(sub(n, n)), t), t_next=n"));
  EXPECT_THAT(run(session, {1, 3}), ElementsAre(-8, -8, -8, -8, -8));
  EXPECT_THAT(run(session, {0, 3}), ElementsAre(-8, 0, -8, -2, -8));
}

TEST_P(StatesOf, WithoutAValueAreNotRead) {
  Session session =
      open(plan_of_text("x: f32[2] = input()\n"
                        "s: f32[2] = input()\n"
                        "state s, next=s_next\n"
                        "return y=add(s, x), s_next=x"));
  const auto refused = session.infer({{"x", Tensor::of<float>({2}, {1, 2})}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("state 's' is read and holds no value: run a plan that writes it"));
  EXPECT_THAT(session.state("s").error().message, HasSubstr("holds no value"));
  EXPECT_THAT(session.state("t").error().message, HasSubstr("there is no state 't'"));
}

TEST_P(StatesOf, AreSharedByThePlansOfASet) {
  const auto writes = plan_of_text(
      "x: f32[2] = input()\n"
      "s: f32[2] = input()\n"
      "state s, next=s_next\n"
      "return y=neg(x), s_next=mul(x, x)");
  const auto reads = plan_of_text(
      "x: f32[1] = input()\n"
      "s: f32[2] = input()\n"
      "state s, next=s_next\n"
      "return y=add(s, x), s_next=add(s, x)");
  auto set = PlanSet::make({*writes, *reads});
  ASSERT_TRUE(set) << set.error().message;
  auto session = SetSession::create(*set);
  ASSERT_TRUE(session) << session.error().message;
  const auto infer = [&](const Values& x) {
    return session->infer({{"x", Tensor::of<float>({static_cast<int64_t>(x.size())}, x)}});
  };
  EXPECT_THAT(infer({1}).error().message, HasSubstr("state 's' is read and holds no value"));
  ASSERT_TRUE(infer({2, 3}));
  EXPECT_THAT((*infer({1}))[0].second.as<float>(), ElementsAre(5, 10));
  EXPECT_THAT((*infer({1}))[0].second.as<float>(), ElementsAre(6, 11));
  ASSERT_TRUE(session->reset_states());
  EXPECT_FALSE(infer({1}));
  EXPECT_THAT(PlanSet::make({*reads}).error().message,
              HasSubstr("state 's' is read before any plan writes it, and has no initial value"));
}

INSTANTIATE_TEST_SUITE_P(Recorders, StatesOf,
                         ::testing::Values(Where{On::processor, false}, Where{On::processor, true},
                                           Where{On::fake, false}, Where{On::fake, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, StatesOf, ::testing::Values(Where{On::device, false}, Where{On::device, true}));

// A run that fails half way leaves no value that a later run could take for one.
TEST(States, HoldNothingAfterARunThatFailed) {
  Plan plan = plan_of(
      "t: f32[4,2] = constant(name=\"t\")\n"
      "i: i64[2] = input()\n"
      "s: f32[2,2] = input()\n"
      "state s, next=s_next, initial=constant(values=[0,0,0,0])\n"
      "n: f32[2,2] = add(s, gather(t, i, axis=0))\n"
      "return y=neg(n), s_next=n",
      all_passes());
  Session session = session_over(std::move(plan));
  ASSERT_TRUE(session.infer({{"i", Tensor::of<int64_t>({2}, {0, 3})}}));
  EXPECT_FALSE(session.infer({{"i", Tensor::of<int64_t>({2}, {0, 4})}}));
  EXPECT_THAT(session.infer({{"i", Tensor::of<int64_t>({2}, {0, 3})}}).error().message,
              HasSubstr("state 's' is read and holds no value"));
  ASSERT_TRUE(session.reset_states());
  EXPECT_TRUE(session.infer({{"i", Tensor::of<int64_t>({2}, {0, 3})}}));
}

// The evaluator, run by run, says what a session of every rung answers.
TEST(States, GoThroughTheRunsThatTheEvaluatorGives) {
  const Graph graph = graph_of(
      "x: f32[3,8] = input()\n"
      "h: f32[3,8] = input()\n"
      "w: f32[8,8] = constant(name=\"w\")\n"
      "u: f32[8,8] = constant(name=\"u\")\n"
      "state h, next=h_next, initial=constant(name=\"h0\")\n"
      "n: f32[3,8] = tanh(add(matmul(x, w), matmul(h, u)))\n"
      "return y=softmax(n), h_next=n");
  std::vector<NamedTensors> inputs;
  for (const char* name : {"a", "b", "c"}) inputs.push_back({{"x", random_tensor(name, {DType::f32, {3, 8}})}});
  const auto wanted = evaluate_sequence(graph, inputs);
  ASSERT_TRUE(wanted) << wanted.error().message;
  for (const Recipe& recipe : {Recipe{}, all_passes()}) {
    Session session = session_over(plan_of(graph, recipe));
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_LT(relative_l2(outputs_of(session, inputs[i])[0].second, callers_outputs(graph, (*wanted)[i].outputs)[0]),
                1e-6)
          << i;
  }
}

}  // namespace
}  // namespace rung
