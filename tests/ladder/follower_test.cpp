// Plans that round to bytes are judged from one rounding to the next: right ones pass though ties fall otherwise, and
// planted mistakes do not.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/follower.hpp"

#include "ladder/rungs.hpp"
#include "ladder/workbench.hpp"
#include "open/recipe.hpp"
#include "reference/evaluate.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRoundings = 6, kWrong = 3;  // the layer with the mistake
constexpr float kStep = 0.1F;              // of x and of weights

std::string number(const std::string& name, float value) {
  return fmt::format("{}: f32[1] = constant(values=[{}])\n", name, value);
}

// Layers of linear(dequantised(quantised(h)), w). Sums are whole quarters of a step, so that a quarter of them lies
// next to a tie. `mistake` is what its author got wrong.
// `beside`: how much of x is added to the answer, by which roundings then move it less.
std::string layers_text(const std::string& mistake, int layers, float beside) {
  std::string text;
  for (int i = 0; i < layers; ++i) text += fmt::format("w{}: f32[32,32] = constant(name=\"w{}\")\n", i, i);
  text += "x: f32[16,32] = input()\n" + number("units", 12582912) + number("least", 0) + number("most", 255);
  text += number("zero", 128) + number("beside", 129) + number("limit", 130) + number("more", 1.001F);
  std::string h = "x";
  float step = kStep;
  for (int i = 0; i < layers; ++i, step *= 4 * kStep) {
    const std::string n = std::to_string(i), wrong = i == kWrong ? mistake : "";
    text += number("s" + n, step) + fmt::format("v{} = div({}, s{})\n", n, h, n);
    const bool truncates = wrong == "truncation";
    text += fmt::format("r{} = {}\n", n, truncates ? "mul(v" + n + ", more)" : "sub(add(v" + n + ", units), units)");
    text += fmt::format("c{} = min(max(add(r{}, zero), least), {})\n", n, n, wrong == "limit" ? "limit" : "most");
    text += fmt::format("q{} = cast(select(eq(c{}, c{}), c{}, least), to=u8)\n", n, n, n, n);
    text += fmt::format("d{} = mul(sub(cast(q{}, to=f32), {}), s{})\n", n, n, wrong == "zero" ? "beside" : "zero", n);
    text += fmt::format("h{} = linear(d{}, w{})\n", n, n, n);
    h = "h" + n;
  }
  text += number("share", beside) + fmt::format("a = mul({}, {})\n", h, mistake == "answer" ? "more" : "s0");
  return text + "y = add(a, mul(x, share))\nreturn y=y";
}

Tensor weights(const std::string& name, const Type& type, const std::string& mistake) {
  Tensor values = random_tensor(name, type);
  for (int64_t i = 0; i < values.elements(); ++i) {
    float& value = values.as<float>()[i];
    value = kStep * std::round(1.5F * value);
    if (mistake == "scale" && name == fmt::format("w{}", kWrong) && i / 32 == 5) value *= 1.01F;
  }
  return values;
}

Graph rounding_model(const std::string& mistake = "", int layers = kRoundings, float beside = 0) {
  auto graph = parse_graph(layers_text(mistake, layers, beside), [&](const std::string& name, const Type& type) {
    return std::make_shared<Literal>(name, weights(name, type, mistake));
  });
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? std::move(*graph) : Graph{};
}

class Following : public ::testing::Test {
 protected:
  Attempt judged(const Recipe& recipe, const std::string& mistake = "", float beside = 0) {
    subject.reference = rounding_model("", kRoundings, beside);
    subject.model.graph = rounding_model(mistake, kRoundings, beside);
    subject.model.defaults["x"].type = subject.model.graph.type(subject.model.graph.input_named("x"));
    inputs = random_inputs(subject.reference);
    auto made = Workbench::create(subject, {inputs}, {.database_path = ""}, budget);
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return {};
    bench = std::move(*made);
    auto attempt = bench->attempt_as_is(recipe);
    EXPECT_TRUE(attempt) << attempt.error().message;
    return attempt ? std::move(*attempt) : Attempt{};
  }
  Budget budget{60};
  Subject subject;
  NamedTensors inputs;
  std::unique_ptr<Workbench> bench;
};

TEST_F(Following, LetsAPlanPassThatRoundsTiesOtherwise) {
  for (const Recipe& recipe : {baseline_recipe(1), default_recipe(1)}) {
    const Attempt attempt = judged(recipe);
    EXPECT_TRUE(attempt.right) << attempt.reason;
    ASSERT_TRUE(attempt.followed);
    EXPECT_EQ(attempt.followed->roundings, kRoundings);
    EXPECT_EQ(attempt.followed->bytes, kRoundings * 16 * 32);
    EXPECT_GT(attempt.followed->beside, 0u);
    EXPECT_LT(attempt.rel_l2, 1e-6);
    EXPECT_THAT(bench->judge().account(attempt), HasSubstr("judged piecewise, from each of 6 roundings to bytes"));
  }
}

// Ties move answers less than a tolerance by the condition would allow, and so does a mistake.
TEST_F(Following, LooksWhereRoundingMovesAnswersLittle) {
  const float beside = 0.3F;
  const Attempt attempt = judged(baseline_recipe(1), "", beside);
  EXPECT_TRUE(attempt.right) << attempt.reason;
  EXPECT_TRUE(attempt.followed);
  const auto another = bench->attempt_as_is(default_recipe(1));
  ASSERT_TRUE(another) << another.error().message;
  EXPECT_TRUE(another->right && another->followed) << "the condition is known by now";
  const Attempt wrong = judged(baseline_recipe(1), "zero", beside);
  EXPECT_FALSE(wrong.right);
  EXPECT_TRUE(wrong.followed) << wrong.reason;
  EXPECT_THAT(bench->judge().account(attempt), HasSubstr("rounding alone moves the answers by 0.00"));
}

TEST_F(Following, LetsNoMistakePass) {
  for (const char* mistake : {"zero", "scale", "limit", "answer"})
    for (const Recipe& recipe : {baseline_recipe(1), default_recipe(1)}) {
      const Attempt attempt = judged(recipe, mistake);
      EXPECT_FALSE(attempt.right) << mistake;
      EXPECT_TRUE(attempt.followed) << mistake << ": " << attempt.reason;
    }
}

TEST_F(Following, RefusesValuesThatAreTruncated) {
  const Attempt attempt = judged(baseline_recipe(1), "truncation");
  EXPECT_FALSE(attempt.right);
  EXPECT_FALSE(attempt.followed);
  EXPECT_THAT(attempt.reason, AllOf(HasSubstr("too far to judge them in f32"), HasSubstr("wanted a sum with")));
}

// The plan whose bytes are followed is right, and the one to be judged is another.
TEST_F(Following, RefusesAPlanWhoseBytesAreAnothers) {
  ASSERT_TRUE(judged(baseline_recipe(1)).right);
  auto other = bench->session_of(rounding_model("zero"), baseline_recipe(1));
  ASSERT_TRUE(other) << other.error().message;
  const auto judgement = bench->judge().judge(**other, baseline_recipe(1));
  ASSERT_TRUE(judgement) << judgement.error().message;
  EXPECT_FALSE(judgement->right);
  EXPECT_THAT(judgement->reason, HasSubstr("with its bytes as outputs, the plan gives other answers"));
}

// The reference's own bytes, and the steps that they were before.
struct OwnWay {
  std::vector<Tensor> bytes, values;
};

OwnWay own_way(const Graph& graph, const NamedTensors& inputs) {
  Graph watched = graph;
  const auto roundings = roundings_of(graph);
  for (const Rounding& rounding : *roundings) {
    watched.set_output(fmt::format("bytes {}", rounding.bytes()), rounding.bytes());
    watched.set_output(fmt::format("value {}", rounding.bytes()), rounding.value);
  }
  const auto outputs = evaluate(watched, {inputs.begin(), inputs.end()});
  OwnWay way;
  for (size_t i = 1; outputs && i + 1 < outputs->size(); i += 2)
    way.bytes.push_back((*outputs)[i]), way.values.push_back((*outputs)[i + 1]);
  return way;
}

// Moves the first byte whose value is that far from a tie by the step across it.
void cross_tie(OwnWay& way, float from, float to) {
  const auto values = way.values[0].as<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const float beyond = values[i] - std::round(values[i]), distance = 0.5F - std::abs(beyond);
    if (distance < from || distance >= to) continue;
    way.bytes[0].as<uint8_t>()[i] += beyond > 0 ? 1 : -1;
    return;
  }
  ADD_FAILURE() << "no value is that far from a tie";
}

Result<Follower::Way> followed(float from, float to) {
  const Graph graph = rounding_model("", 1);
  NamedTensors inputs = random_inputs(graph);
  inputs["x"].as<float>()[0] = 2.5F * kStep * (1 - 1e-6F);  // next to a tie
  OwnWay way = own_way(graph, inputs);
  if (to > 0) cross_tie(way, from, to);
  auto follower = Follower::create(graph, {inputs}, {});
  EXPECT_TRUE(follower) << follower.error().message;
  return follower->follow(0, way.bytes);
}

TEST(Follower, FollowsTheReferenceItself) {
  const auto way = followed(0, 0);
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(way->wrong, "");
  EXPECT_EQ(way->followed.beside, 0u);
}

TEST(Follower, LetsAStepPassNextToATie) {
  const auto way = followed(0, 1e-5F);
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_EQ(way->wrong, "");
  EXPECT_EQ(way->followed.beside, 1u);
}

TEST(Follower, RefusesAStepAwayFromTies) {
  const auto way = followed(0.01F, 0.5F);
  ASSERT_TRUE(way) << way.error().message;
  EXPECT_THAT(way->wrong, HasSubstr("wanted"));
  EXPECT_EQ(way->followed.beside, 0u);
}

}  // namespace
}  // namespace rung
