// Every op of a model is found in the op that does its work after the passes.
// SPDX-License-Identifier: Apache-2.0
#include "passes/origins.hpp"

#include <gmock/gmock.h>

#include "ir/text.hpp"
#include "passes/runner.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;

// The labels of the model's ops that ended in each op that computes, by that op's name.
std::multimap<std::string, Names> ended_in(const std::string& text, std::set<std::string, std::less<>> rungs) {
  const auto model = parse_graph(text);
  EXPECT_TRUE(model) << model.error().message;
  Graph rewritten = *model;
  EXPECT_TRUE(run_passes(rewritten, {.rungs = std::move(rungs)}));
  std::multimap<std::string, Names> found;
  const auto took = origins(*model, rewritten);
  for (NodeId id : rewritten.order()) {
    if (rewritten.as<Input>(id) || rewritten.is_constant(id) || is_view(rewritten[id].op)) continue;
    Names labels;
    for (NodeId origin : took[id]) labels.push_back((*model)[origin].label);
    found.emplace(name_of(rewritten[id].op), std::move(labels));
  }
  return found;
}

constexpr const char* kProjections =
    "wq: f32[4,4] = constant(name=\"wq\")\n"
    "wk: f32[4,4] = constant(name=\"wk\")\n"
    "q = linear(x:f32[1,3,4], wq)  # q\n"
    "k = linear(x, wk)  # k\n"
    "g = silu(q)  # gate\n"
    "y = mul(g, k)  # product\n";

TEST(Origins, FollowProjectionsIntoTheirProduct) {
  const auto found = ended_in(kProjections, {"projection"});
  EXPECT_THAT(found.find("linear")->second, ElementsAre("q", "k"));
  EXPECT_THAT(found.find("silu")->second, ElementsAre("gate"));
}

TEST(Origins, FollowEpiloguesIntoTheLinear) {
  const auto found = ended_in(
      "w: f32[4,4] = constant(name=\"w\")\n"
      "h = linear(x:f32[3,4], w)  # h\n"
      "a = gelu(h)  # gelu\n"
      "o = linear(a, w)  # o\n"
      "y = add(o, x)  # residual\n",
      {"fusion"});
  ASSERT_EQ(found.count("linear"), 2u);
  EXPECT_THAT(found.find("linear")->second, ElementsAre("h", "gelu"));
  EXPECT_THAT(std::next(found.find("linear"))->second, ElementsAre("o", "residual"));
}

TEST(Origins, FollowTowersIntoTheirBatch) {
  const auto found = ended_in(
      "w: f32[4,4] = constant(name=\"w\")\nv: f32[4,4] = constant(name=\"v\")\n"
      "h0 = linear(a:f32[1,3,4], w)  # camera.0.h\nh1 = linear(b:f32[1,3,4], w)  # camera.1.h\n"
      "e0 = exp(h0)  # camera.0.e\ne1 = exp(h1)  # camera.1.e\n"
      "o0 = linear(e0, v)  # camera.0.o\no1 = linear(e1, v)  # camera.1.o\n"
      "y = concat(o0, o1, axis=1)  # both\n",
      {"reduce"});
  ASSERT_EQ(found.count("linear"), 2u);
  EXPECT_THAT(found.find("exp")->second, ElementsAre("camera.0.e", "camera.1.e"));
  EXPECT_THAT(found.find("linear")->second, ElementsAre("camera.0.h", "camera.1.h"));
  EXPECT_THAT(std::next(found.find("linear"))->second, ElementsAre("camera.0.o", "camera.1.o", "both"));
}

// Only the last row of the projection is read, and only that one is computed.
TEST(Origins, FollowValuesOfWhichFewRowsAreRead) {
  const auto found = ended_in(
      "w: f32[4,4] = constant(name=\"w\")\n"
      "h = linear(x:f32[3,4], w)  # h\n"
      "a = exp(h)  # a\n"
      "last = slice(a, axis=0, begin=2, end=3)  # last\n"
      "y = softmax(last)  # y\n",
      {"reduce"});
  EXPECT_THAT(found.find("linear")->second, ElementsAre("h"));
  EXPECT_THAT(found.find("exp")->second, ElementsAre("a"));
  EXPECT_THAT(found.find("softmax")->second, ElementsAre("y"));
}

TEST(Origins, FollowEqualValuesIntoOne) {
  const auto found = ended_in("a = exp(x:f32[4])  # first\nb = exp(x)  # second\ny = mul(a, b)  # product", {});
  EXPECT_THAT(found.find("exp")->second, ElementsAre("first", "second"));
  EXPECT_THAT(found.find("mul")->second, ElementsAre("product"));
}

TEST(Origins, LeaveOutWhatNothingNeeds) {
  const auto model = parse_graph("a = exp(x:f32[4])  # dead\nb = abs(a)  # after\ny = neg(x)  # alive\nreturn y=y");
  Graph rewritten = *model;
  ASSERT_TRUE(run_passes(rewritten, {}));
  size_t followed = 0;
  for (const auto& took : origins(*model, rewritten)) followed += took.size();
  EXPECT_EQ(followed, 1u);
}

TEST(Origins, PassesAddOpsWithoutOrigin) {
  const auto model = parse_graph("y = neg(x:f32[4])  # neg\nreturn y=y");
  Graph rewritten = *model;
  const NodeId added = rewritten.add(Unary{UnaryKind::exp}, {rewritten.outputs()[0].node});
  EXPECT_THAT(origins(*model, rewritten)[added], IsEmpty());
}

}  // namespace
}  // namespace rung::test
