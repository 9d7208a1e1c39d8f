// Ops that update operands: in the memory of a state that becomes what they make of it, and else in a copy.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "plan/check.hpp"
#include "plan/state_use.hpp"
#include "reference/sequence.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

// A head of queries, one of keys and one of values, two wide, of one token; `more` makes outputs beside y and z.
std::string caches(const std::string& results, const std::string& more = "", const std::string& keys = "k") {
  return "x: f32[1,6] = input()\nat: i64[1] = input()\nc: f32[1,2] = input()\ns: f32[1,2] = input()\n"
         "k: f32[3,1,2] = input()\nv: f32[3,1,2] = input()\n" +
         more + "y = cache_heads(x, " + keys + ", v, at, c, s)\nkn = result(y)\nvn = result(y, index=2)\n" +
         "z = sub(exp(kn), vn)\nstate k, next=k_next, initial=constant(values=[1,2,3,4,5,6])\n"
         "state v, next=v_next, initial=constant(values=[6,5,4,3,2,1])\nreturn y=y, z=z, " +
         results;
}
const std::string kCaches = caches("k_next=kn, v_next=vn");

// Runs the plan for three tokens, the last in the place of the first, and compares with the evaluator.
void expect_sequence(const std::string& text) {
  SCOPED_TRACE(text);
  std::vector<NamedTensors> runs;
  for (const int64_t place : {0, 2, 0}) {
    const float a = static_cast<float>(runs.size()) * 0.25f;
    runs.push_back({{"x", Tensor::of<float>({1, 6}, {a, 1 - a, 0.5f + a, -a, a * a, 0.75f})},
                    {"at", Tensor::of<int64_t>({1}, {place})},
                    {"c", Tensor::of<float>({1, 2}, {0.5f, 0.25f})},
                    {"s", Tensor::of<float>({1, 2}, {-0.75f, 1})}});
  }
  const Graph graph = graph_of(text);
  const auto wanted = evaluate_sequence(graph, runs);
  ASSERT_TRUE(wanted) << wanted.error().message;
  Plan plan = plan_of(graph);
  ASSERT_TRUE(check_plan(plan)) << check_plan(plan).error().message;
  Session session = session_over(std::move(plan));
  for (size_t i = 0; i < runs.size(); ++i) {
    const Outputs got = outputs_of(session, runs[i]);
    const std::vector<Tensor> theirs = callers_outputs(graph, (*wanted)[i].outputs);
    ASSERT_EQ(got.size(), theirs.size());
    for (size_t j = 0; j < got.size(); ++j) {
      const auto a = got[j].second.as<float>(), b = theirs[j].as<float>();
      for (size_t e = 0; e < a.size(); ++e) EXPECT_NEAR(a[e], b[e], 1e-5f) << "run " << i << ", " << got[j].first;
    }
  }
}

size_t copies_in(const Plan& plan) {
  return static_cast<size_t>(std::ranges::count_if(plan.steps, [](const Step& step) { return as<Reshape>(step.op); }));
}
const Step& update_in(const Plan& plan) {
  return *std::ranges::find_if(plan.steps, [](const Step& step) { return as<CacheHeads>(step.op); });
}

TEST(Updates, OfStatesAreInTheirOwnMemory) {
  const Plan plan = plan_of(kCaches);
  EXPECT_EQ(copies_in(plan), 0u);
  for (const size_t i : {0, 1}) {
    EXPECT_EQ(update_in(plan).inputs[i + 1].index, plan.states[i].buffer);
    const StateUse use = use_of(plan, plan.states[i]);
    EXPECT_TRUE(use.reads_first && use.writes) << plan.states[i].name;
  }
  expect_sequence(kCaches);
}

// Neither all of x is a cache's, nor are the caches read: two heads of two columns are written.
TEST(Updates, MoveNoMoreThanWhatTheySet) {
  const size_t x = 6, places = 2, angles = 4;  // floats
  EXPECT_EQ(update_in(plan_of(kCaches)).bytes, static_cast<double>((x + places + angles + 2 + 2 * 2) * sizeof(float)));
}

TEST(Updates, OfWhatAnotherReadsAreInACopy) {
  for (const auto& [text, copied] : {std::pair{caches("k_next=kn, v_next=vn, old=exp(k)"), size_t{2}},
                                     {caches("k_next=vn, v_next=kn"), size_t{3}},
                                     {caches("k_next=sub(kn, kn), v_next=vn"), size_t{1}},
                                     {caches("k_next=kn, v_next=vn", "u: f32[3,1,2] = neg(k)\n", "u"), size_t{1}}}) {
    EXPECT_EQ(copies_in(plan_of(text)), copied) << text;
    expect_sequence(text);
  }
}

const char* const kCallers =
    "y = cache_heads(x:f32[1,6], k:f32[3,1,2], v:f32[3,1,2], at:i64[1], c:f32[1,2], s:f32[1,2])\n"
    "return y=y, k_next=result(y), v_next=result(y, index=2)";

TEST(Updates, LeaveTheCallersInputsAsTheyAre) {
  const Graph graph = graph_of(kCallers);
  NamedTensors inputs = random_inputs(graph);
  inputs["at"] = Tensor::of<int64_t>({1}, {1});
  const std::vector<float> before(inputs.at("k").as<float>().begin(), inputs.at("k").as<float>().end());
  const auto wanted = evaluate(graph, inputs);
  ASSERT_TRUE(wanted) << wanted.error().message;
  Session session = session_over(plan_of(graph));
  for (int i = 0; i < 2; ++i) {
    const Outputs got = outputs_of(session, inputs);
    for (size_t j = 0; j < got.size(); ++j) EXPECT_LT(relative_l2(got[j].second, (*wanted)[j]), 1e-6) << got[j].first;
  }
  EXPECT_TRUE(std::ranges::equal(before, inputs.at("k").as<float>()));
}

TEST(Updates, OfLoadedPlansAreOfWholeBuffers) {
  const auto refusal = [](std::string_view text, const std::function<void(Plan&, Step&)>& change) {
    Plan plan = plan_of(text);
    change(plan, *std::ranges::find_if(plan.steps, [](const Step& step) { return as<CacheHeads>(step.op); }));
    const Status status = check_plan(plan);
    return status ? std::string("none") : status.error().message;
  };
  EXPECT_EQ(refusal(kCaches, [](Plan&, Step&) {}), "none");
  EXPECT_THAT(refusal(kCaches, [](Plan&, Step& update) { update.inputs[2].index = update.inputs[1].index; }),
              HasSubstr("it reads operand 1 as another one, too"));
  EXPECT_THAT(refusal(kCallers, [](Plan& plan, Step& update) { update.inputs[1].index = plan.inputs[1].buffer; }),
              HasSubstr("it updates the input in buffer 1"));
  EXPECT_THAT(refusal(kCaches,
                      [](Plan&, Step& update) {
                        update.inputs[1].view.shape = update.inputs[2].view.shape = {1, 1, 2};
                        update.inputs[1].view.strides = update.inputs[2].view.strides = {2, 2, 1};
                      }),
              HasSubstr("it updates f32[1,1,2] in buffer"));
}

}  // namespace
}  // namespace rung
