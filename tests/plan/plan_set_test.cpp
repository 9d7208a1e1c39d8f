// Sets of plans: what they share, what they refuse, and their file.
// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_set.hpp"

#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "ir/safetensors.hpp"
#include "plan/check.hpp"
#include "plan/file.hpp"
#include "plan/set_json.hpp"
#include "support.hpp"
#include "support/temporary_directory.hpp"
#include "support/wrong_types.hpp"

namespace rung {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// y = x w^T + b over that many rows.
Plan plan_of_rows(int rows) {
  Plan plan = plan_of(fmt::format("w: f32[16,8] = constant(name=\"w\")\n"
                                  "b: f32[16] = constant(name=\"b\")\n"
                                  "x: f32[{0},8] = input()\n"
                                  "y: f32[{0},16] = linear(x, w, b, slots=bias)\n"
                                  "return y=y",
                                  rows),
                      all_passes());
  plan.model = "rows";
  plan.attachments["vocab.txt"] = "a\nb\n";
  return plan;
}

Plan loaded_plan(const std::string& path, size_t index) {
  auto set = load_plans(path, [](const std::string&) { return &cpu_target(); });
  EXPECT_TRUE(set) << set.error().message;
  return set ? *(*set)[index] : Plan{};
}

// A running sum, with all that a file holds of a state.
Plan plan_with_state(float initial) {
  return plan_of(fmt::format("x: f32[4] = input()\n"
                             "s: f32[4] = input()\n"
                             "z: f32[4] = input()\n"
                             "state s, next=s_next, initial=constant(values=[{0},{0},{0},{0}])\n"
                             "state z, next=z_next\n"
                             "n: f32[4] = add(s, x)\n"
                             "return y=neg(n), s_next=n, z_next=mul(n, n)",
                             initial),
                 all_passes());
}

TEST(PlanStates, AreInTheFile) {
  TemporaryDirectory folder;
  for (const float initial : {0.0f, 2.5f}) {
    const Plan plan = plan_with_state(initial);
    ASSERT_TRUE(save_plan(plan, folder / "plan.rung"));
    const Plan loaded = loaded_plan(folder / "plan.rung", 0);
    ASSERT_EQ(loaded.states.size(), 2u);
    EXPECT_EQ(loaded.states[0].initial, initial == 0 ? Initial::zeros : Initial::value);
    EXPECT_EQ(loaded.states[1].initial, Initial::nothing);
    Session session = session_over(loaded);
    const NamedTensors inputs{{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}};
    EXPECT_THAT(outputs_of(session, inputs)[0].second.as<float>()[3], -4 - initial);
    EXPECT_THAT(outputs_of(session, inputs)[0].second.as<float>()[3], -8 - initial);
  }
}

TEST(PlanStates, AreNoBuffersOfTheArena) {
  const Plan with = plan_with_state(1);
  const Plan without = plan_of("x: f32[4] = input()\nn: f32[4] = exp(x)\nreturn y=neg(n)", all_passes());
  EXPECT_LE(with.arena_bytes, without.arena_bytes + 2 * kBufferAlignment);
  for (const PlanState& state : with.states) EXPECT_EQ(with.buffers[state.buffer].offset, 0u);
  EXPECT_EQ(with.steps.size(), 4u) << "z is made where it is kept; s is read where it is made, and copied";
}

TEST(PlanStates, AreCheckedLikeAllElse) {
  const auto refusal = [](const std::function<void(Plan&)>& change) {
    Plan plan = plan_with_state(1);
    EXPECT_TRUE(check_plan(plan));
    change(plan);
    const Status checked = check_plan(plan);
    return checked ? "no error" : checked.error().message;
  };
  EXPECT_THAT(refusal([](Plan& p) { p.states[0].type = {DType::f32, {5}}; }), HasSubstr("state 's'"));
  EXPECT_THAT(refusal([](Plan& p) { p.states[0].type = {DType::i32, {4}}; }), HasSubstr("state 's'"));
  EXPECT_THAT(refusal([](Plan& p) { p.states[0].buffer = 99; }), HasSubstr("overlap"));
  EXPECT_THAT(refusal([](Plan& p) { p.states[0].buffer = p.inputs[0].buffer; }), HasSubstr("in use for another value"));
  EXPECT_THAT(refusal([](Plan& p) { p.states[1].buffer = p.states[0].buffer; }), HasSubstr("overlap"));
  EXPECT_THAT(refusal([](Plan& p) {
                p.states.push_back({.name = "t", .type = {DType::f32, {4}}, .buffer = 99});
              }),
              HasSubstr("state 't': buffer 99 of"));
  EXPECT_THAT(refusal([](Plan& p) { p.states[1].name = "s"; }), HasSubstr("two states are named 's'"));
  EXPECT_THAT(refusal([](Plan& p) { p.states[0].value.reset(); }), HasSubstr("got no initial value, wanted one"));
  EXPECT_THAT(refusal([](Plan& p) {
                p.states[0].value = Tensor::of<float>({3}, {1, 2, 3});
              }),
              HasSubstr("got an initial value of f32[3], wanted f32[4]"));
  EXPECT_THAT(refusal([](Plan& p) { p.buffers[p.states[0].buffer].bytes += 64; }), HasSubstr("got 80 bytes at 0"));
  EXPECT_THAT(refusal([](Plan& p) { p.steps[1].output.index = p.states[0].buffer; }),
              HasSubstr("step 3 (s_next): buffer 1 is in use for another value"))
      << "two steps write it";
  EXPECT_THAT(refusal([](Plan& p) { p.steps[2].inputs[0].index = p.states[1].buffer; }),
              HasSubstr("it reads state 'z' while it writes it"));
  EXPECT_THAT(refusal([](Plan& p) { p.steps[0].inputs[0].offset = 4; }), HasSubstr("reaches past its"));
}

TEST(PlanStates, OfOneNameAreOneInAllPlans) {
  const auto error_of = [](const Plan& second) {
    Plan first = plan_with_state(1);
    first.inputs[0].type.shape = {2, 2};  // it serves another shape
    const auto set = PlanSet::make({first, second});
    return set ? "no error" : set.error().message;
  };
  EXPECT_EQ(error_of(plan_with_state(1)), "no error");
  EXPECT_THAT(error_of(plan_with_state(2)), HasSubstr("state 's' has another type or initial value"));
  EXPECT_THAT(error_of(plan_with_state(0)), HasSubstr("state 's' has another type or initial value"));
}

struct TwoPlans : ::testing::Test {
  PlanSet set = *PlanSet::make({plan_of_rows(2), plan_of_rows(5)});
  TemporaryDirectory folder;
  std::string path = folder / "plan.rung";

  void SetUp() override {
    const Status saved = save_plans(set, path);
    ASSERT_TRUE(saved) << saved.error().message;
  }
};

TEST_F(TwoPlans, ShareTheirWeightsInMemoryAndFile) {
  ASSERT_EQ(set[0]->weights.size(), set[1]->weights.size());
  for (size_t i = 0; i < set[0]->weights.size(); ++i) EXPECT_EQ(set[0]->weights[i].data, set[1]->weights[i].data);
  EXPECT_EQ(set.weight_bytes(), set.first().weight_bytes());
  const auto file = Safetensors::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->tensors().size(), set[0]->weights.size());
  auto again = load_plans(path, [](const std::string&) { return &cpu_target(); });
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)[0]->weights[0].data, (*again)[1]->weights[0].data);
  EXPECT_EQ(again->weight_bytes(), set.weight_bytes());
}

TEST(SharedWeights, AreEqualInEveryByte) {
  const Plan first = plan_of_rows(2);
  Plan same = plan_of_rows(2), other = plan_of_rows(2);
  auto changed = std::make_shared<Tensor>(Type{DType::u8, {static_cast<int64_t>(first.weights[0].bytes)}});
  other.weights[0].data = {changed, changed->data()};
  SharedWeights weights;
  for (Plan plan = first; Plan * each : {&plan, &same, &other}) weights.share(*each);
  EXPECT_EQ(same.weights[0].data, first.weights[0].data);
  EXPECT_EQ(other.weights[0].data.get(), changed->data());
  EXPECT_EQ(other.weights[1].data, first.weights[1].data);
}

TEST_F(TwoPlans, AnswerAsEachByItself) {
  for (int rows : {2, 5}) {
    const NamedTensors inputs{{"x", random_tensor("x", {DType::f32, {rows, 8}})}};
    const Outputs wanted = outputs_of(plan_of_rows(rows), inputs);
    const Outputs got = outputs_of(loaded_plan(path, rows == 2 ? 0 : 1), inputs);
    EXPECT_TRUE(same_bits(got[0].second, wanted[0].second)) << rows;
  }
}

TEST_F(TwoPlans, ServeTheirOwnShapes) {
  EXPECT_EQ(set.serving({{"x", {5, 8}}}), 1u);
  EXPECT_EQ(set.serving({{"x", {2, 8}}, {"another", {1}}}), 0u);
  EXPECT_EQ(set.served(), "x=2,8; x=5,8");
  EXPECT_THAT(set.serving({{"x", {3, 8}}}).error().message, AllOf(HasSubstr("x=3,8"), HasSubstr("x=2,8; x=5,8")));
  EXPECT_THAT(set.serving({}).error().message, HasSubstr("fits several plans"));
}

TEST_F(TwoPlans, AreNoFileOfOne) {
  const auto one = load_plan(path);
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().message, HasSubstr("holds 2 plans, wanted one"));
}

TEST_F(TwoPlans, StandInJsonWithTheirModelOnce) {
  const nlohmann::json json = set_to_json(set);
  EXPECT_EQ(json.at("attachments").at("vocab.txt"), "a\nb\n");
  EXPECT_FALSE(json.at("plans")[0].contains("attachments"));
  const auto listed = set_from_json(json);
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->plans.size(), 2u);
  EXPECT_EQ(listed->plans[1].model, "rows");
  EXPECT_EQ(listed->uses[0], listed->uses[1]);
}

TEST_F(TwoPlans, RefuseWeightsThatAreNone) {
  const auto error_of = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json json = set_to_json(set);
    json[nlohmann::json::json_pointer(pointer)] = value;
    const auto listed = set_from_json(json);
    return listed ? "no error" : listed.error().message;
  };
  EXPECT_THAT(error_of("/plans/1/weights/0", 2), HasSubstr("malformed plan"));
  EXPECT_THAT(error_of("/plans/1/weights/0", "w"), HasSubstr("malformed plan"));
  EXPECT_THAT(error_of("/weights/2", {"more", 64}), HasSubstr("no plan uses weight 2 ('more')"));
  EXPECT_THAT(error_of("/plans", 3), HasSubstr("malformed plan"));
}

TEST_F(TwoPlans, TellWrongTypesInWords) {
  const auto read = [](const nlohmann::json& json) {
    const auto listed = set_from_json(json);
    return listed ? std::string() : listed.error().message;
  };
  nlohmann::json json = set_to_json(set);
  EXPECT_GT(expect_words_for_wrong_types(json, read), 500u);
  json["architecture"] = 3;
  EXPECT_EQ(read(json), "malformed plan: got a number, wanted a string");
}

TEST_F(TwoPlans, AreNoticedWhereAByteIsFlipped) {
  const std::string bytes = *read_text_file(path);
  for (size_t at = 100; at < bytes.size(); at += bytes.size() / 97 + 1) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 0x11);
    folder.write("other.rung", other);
    EXPECT_FALSE(load_plans(folder / "other.rung", [](const std::string&) { return &cpu_target(); })) << at;
  }
}

std::string refused(Plan second) {
  const auto set = PlanSet::make({plan_of_rows(2), std::move(second)});
  return set ? "no error" : set.error().message;
}

TEST(PlanSet, RefusesPlansThatDoNotAgree) {
  EXPECT_EQ(refused(plan_of_rows(3)), "no error");
  EXPECT_THAT(refused(plan_of_rows(2)), HasSubstr("serve the same shapes: x=2,8"));
  Plan other = plan_of_rows(3);
  other.model = "columns";
  EXPECT_THAT(refused(other), AllOf(HasSubstr("their model"), HasSubstr("got columns, wanted rows")));
  other = plan_of_rows(3);
  other.device = "cpu of another kind";
  EXPECT_THAT(refused(other), HasSubstr("their device"));
  other = plan_of_rows(3);
  other.inputs[0].name = "z";
  EXPECT_THAT(refused(other), HasSubstr("their inputs"));
  other = plan_of_rows(3);
  other.outputs[0].name = "z";
  EXPECT_THAT(refused(other), HasSubstr("their outputs"));
  other = plan_of_rows(3);
  other.attachments.clear();
  EXPECT_THAT(refused(other), HasSubstr("their attachments"));
  EXPECT_THAT(PlanSet::make({}).error().message, HasSubstr("got no plan"));
}

TEST(PlanSet, SharesNoWeightsThatDiffer) {
  Plan other = plan_of_rows(3);
  auto changed = std::make_shared<Tensor>(Type{DType::u8, {static_cast<int64_t>(other.weights[0].bytes)}});
  other.weights[0].data = {changed, changed->data()};
  const auto set = PlanSet::make({plan_of_rows(2), other});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_NE((*set)[0]->weights[0].data, (*set)[1]->weights[0].data);
  EXPECT_EQ((*set)[0]->weights[1].data, (*set)[1]->weights[1].data);
}

}  // namespace
}  // namespace rung
