// Sessions: the same answer every time and from both recorders, and every bad input named.
// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include "plan/support.hpp"
#include "support/held_workers.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText =
    "table: f32[9,64] = constant(name=\"table\")\n"
    "w: f32[64,64] = constant(name=\"w\")\n"
    "v: f32[64,64] = constant(name=\"v\")\n"
    "ids: i64[1,8] = input()\n"
    "bias: f32[1,8,64] = input()\n"
    "h: f32[1,8,64] = add(gather(table, ids, axis=0), bias)\n"
    "k: f32[1,8,64] = gelu(linear(h, w))\n"
    "s: f32[1,8,8] = softmax(matmul(h, transpose(k, permutation=[0,2,1])))\n"
    "y: f32[1,8,64] = linear(matmul(s, k), v)\n"
    "return y=y, s=s";

Plan text_plan(bool capture, int threads = 1) {
  Recipe recipe = all_passes();
  recipe.capture = capture;
  recipe.threads = threads;
  Plan plan = plan_of(kText, recipe);
  plan.inputs[0].first = 0, plan.inputs[0].last = 8;
  return plan;
}
NamedTensors text_inputs() {
  return {{"ids", Tensor::of<int64_t>({1, 8}, {0, 1, 2, 3, 8, 7, 6, 5})},
          {"bias", random_tensor("bias", {DType::f32, {1, 8, 64}})}};
}

class Recorders : public ::testing::TestWithParam<int> {};

TEST_P(Recorders, AgreeBitForBit) {
  Outputs eager = outputs_of(text_plan(false, GetParam()), text_inputs());
  Outputs captured = outputs_of(text_plan(true, GetParam()), text_inputs());
  ASSERT_EQ(eager.size(), 2u);
  for (size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(same_bits(eager[i].second, captured[i].second));
}

int prepared = 0;  // how often the row below was

TEST(EagerSession, PreparesAKernelOnceForAllRuns) {
  static Kernel counting = *cpu_target().kernel_named("unary_fallback");
  counting.prepare = [](const Problem&, const Machine&) -> std::shared_ptr<void> {
    return std::make_shared<int>(++prepared);
  };
  static const Kernel* const rows[] = {&counting};
  Target target = cpu_target();
  target.kernels = rows;
  auto built =
      build_plan(graph_of("x: f32[8] = input()\ny = neg(x)"), {.capture = false, .threads = 1}, {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  Session session = session_over(std::move(built->plan));
  prepared = 0;
  for (int run = 0; run < 3; ++run) outputs_of(session, {{"x", Tensor::of<float>({8}, std::vector<float>(8, 1))}});
  EXPECT_EQ(prepared, 1);
}

TEST_P(Recorders, ReplayBitIdentically) {
  for (bool capture : {false, true}) {
    Session session = session_over(text_plan(capture, GetParam()));
    Outputs first = outputs_of(session, text_inputs());
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(session.run());
      Outputs again = *session.outputs();
      ASSERT_TRUE(same_bits(first[0].second, again[0].second)) << "replay " << i;
      ASSERT_TRUE(same_bits(first[1].second, again[1].second)) << "replay " << i;
    }
  }
}

// As if other programs had all processors but the caller's.
TEST_P(Recorders, GiveTheSameBitsWithoutAnyWorker) {
  for (bool capture : {false, true}) {
    const Outputs expected = outputs_of(text_plan(capture, GetParam()), text_inputs());
    auto team = std::make_shared<cpu::Team>(GetParam(), cpu::Pinning::none, HeldWorkers::hold);
    const HeldWorkers held;
    Session session = *Session::create(std::make_shared<Plan>(text_plan(capture, GetParam())), team);
    const Outputs alone = outputs_of(session, text_inputs());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(same_bits(expected[i].second, alone[i].second));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Recorders, ::testing::Values(1, 2, 3));

std::string error_of(Session& session, const NamedTensors& inputs) {
  auto outputs = session.infer(inputs);
  return outputs ? "no error" : outputs.error().message;
}

class SessionInputs : public ::testing::Test {
 protected:
  Session session = session_over(text_plan(true));
  NamedTensors inputs = text_inputs();
};

TEST_F(SessionInputs, OfUnknownNamesAreRefusedListingKnownOnes) {
  inputs["idz"] = inputs["ids"];
  EXPECT_EQ(error_of(session, inputs), "there is no input 'idz'; the inputs are: ids, bias");
}

TEST_F(SessionInputs, OfAnotherTypeOrShapeAreRefused) {
  inputs["bias"] = Tensor({DType::f32, {1, 8, 63}});
  EXPECT_EQ(error_of(session, inputs), "input 'bias': got f32[1,8,63], wanted f32[1,8,64]");
  inputs = text_inputs();
  inputs["ids"] = Tensor({DType::i32, {1, 8}});
  EXPECT_EQ(error_of(session, inputs), "input 'ids': got i32[1,8], wanted i64[1,8]");
}

TEST_F(SessionInputs, ThatAreNotFiniteAreCounted) {
  inputs["bias"] = convert(inputs["bias"], DType::f32);
  auto values = inputs["bias"].as<float>();
  values[3] = NAN, values[5] = NAN, values[7] = -INFINITY;
  std::string error = error_of(session, inputs);
  EXPECT_THAT(error, HasSubstr("'bias'"));
  EXPECT_THAT(error, HasSubstr("2 NaN"));
  EXPECT_THAT(error, HasSubstr("1 inf"));
}

TEST_F(SessionInputs, OutOfRangeAreRefused) {
  inputs["ids"] = Tensor::of<int64_t>({1, 8}, {0, 1, 2, 3, 4, 5, 6, 9});
  EXPECT_EQ(error_of(session, inputs), "input 'ids': got value 9, wanted 0 to 8");
}

TEST_F(SessionInputs, ThatAreMissingAreNamed) {
  inputs.erase("bias");
  EXPECT_EQ(error_of(session, inputs), "input 'bias' (f32[1,8,64]) is missing and has no default");
}

TEST_F(SessionInputs, ChangeNothingWhenRefused) {
  Outputs before = outputs_of(session, inputs);
  NamedTensors bad = text_inputs();
  bad["bias"] = Tensor({DType::f32, {1, 8, 64}});
  bad["ids"] = Tensor::of<int64_t>({1, 8}, {-1, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_FALSE(session.set_inputs(bad));
  ASSERT_TRUE(session.run());
  EXPECT_TRUE(same_bits((*session.outputs())[0].second, before[0].second));
}

TEST(Session, TakesDefaultsForInputsLeftOut) {
  Plan plan = text_plan(true);
  plan.inputs[1].value = text_inputs().at("bias");
  Outputs all = outputs_of(text_plan(true), text_inputs());
  Outputs some = outputs_of(std::move(plan), {{"ids", text_inputs().at("ids")}});
  EXPECT_TRUE(same_bits(all[0].second, some[0].second));
}

TEST(Session, RefusesFrozenInputsAtOtherValuesByName) {
  Plan plan = text_plan(true);
  Tensor mask = Tensor::of<float>({3}, {1, 0, 1});
  plan.frozen.push_back({"mask", mask});
  Session session = session_over(std::move(plan));
  NamedTensors inputs = text_inputs();
  inputs["mask"] = mask;
  EXPECT_EQ(error_of(session, inputs), "no error");
  inputs["mask"] = Tensor::of<float>({3}, {1, 1, 1});
  EXPECT_THAT(error_of(session, inputs), HasSubstr("input 'mask' is frozen in this plan at another value"));
  inputs["mask"] = Tensor::of<float>({2}, {1, 1});
  EXPECT_EQ(error_of(session, inputs), "input 'mask': got f32[2], wanted f32[3]");
}

TEST(Session, WantsATeamOfThePlansSize) {
  auto plan = std::make_shared<const Plan>(text_plan(true, 2));
  auto session = Session::create(plan, std::make_shared<cpu::Team>(1));
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message, "the plan was built for 2 threads, got a team of 1");
}

class RunTimeFault : public ::testing::TestWithParam<bool> {};

TEST_P(RunTimeFault, NamesTheOpAndLeavesTheSessionUsable) {
  Session session =
      session_over(plan_of("t: f32[4,2] = constant(name=\"t\")\n"
                           "a: f32[3,2] = gather(t, i:i64[3], axis=0)  # first.lookup\n"
                           "b: f32[3,2] = gather(t, j:i64[3], axis=0)  # second.lookup\n"
                           "return a=a, b=b",
                           {.capture = GetParam()}));
  Tensor good = Tensor::of<int64_t>({3}, {0, 3, 1}), bad = Tensor::of<int64_t>({3}, {0, 4, 1});
  EXPECT_THAT(error_of(session, {{"i", good}, {"j", bad}}),
              HasSubstr("second.lookup (gather): an index is out of range"));
  EXPECT_THAT(error_of(session, {{"i", bad}, {"j", bad}}), HasSubstr("first.lookup (gather)"));
  EXPECT_EQ(error_of(session, {{"i", good}, {"j", good}}), "no error");
}

TEST_P(RunTimeFault, TellsADivisionByZeroFromAnIndex) {
  Session session =
      session_over(plan_of("q: i64[3] = div(x:i64[3], y:i64[3])  # the.quotient\nreturn q=q", {.capture = GetParam()}));
  Tensor good = Tensor::of<int64_t>({3}, {7, 8, 9}), bad = Tensor::of<int64_t>({3}, {1, 0, 1});
  EXPECT_THAT(error_of(session, {{"x", good}, {"y", bad}}),
              HasSubstr("the.quotient (div): an integer is divided by zero"));
  EXPECT_EQ(error_of(session, {{"x", bad}, {"y", good}}), "no error");
}

TEST_P(RunTimeFault, TellsThatThereIsNoTokenToDraw) {
  Session session = session_over(
      plan_of("t: i64[1] = sample(x:f32[3], s:f32[8], d:i64[2])  # the.token\nreturn t=t", {.capture = GetParam()}));
  const auto run = [&](float top_p) {
    return error_of(session, {{"x", Tensor::of<float>({3}, {7, 8, 9})},
                              {"s", Tensor::of<float>({8}, {1, 0, top_p, 0, 1, 0, 0, 0})},
                              {"d", Tensor::of<int64_t>({2}, {1, 0})}});
  };
  EXPECT_THAT(run(2),
              HasSubstr("the.token (sample): logits with NaN or +inf, no token that is not banned, or a setting"));
  EXPECT_EQ(run(0.5f), "no error");
}

INSTANTIATE_TEST_SUITE_P(Captured, RunTimeFault, ::testing::Bool());

}  // namespace
}  // namespace rung
