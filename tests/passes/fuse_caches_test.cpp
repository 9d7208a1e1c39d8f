// fuse_caches: heads of a projection reach their caches and their attention in one op.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::fuse_caches;

// Two heads of queries and one of keys and values, 4 wide, of one token; `heads` makes the heads that rotate, f32, of
// the first three of x: f32[1,1,16], and `more` is the graph's end.
struct Layer {
  std::string heads = "h = reshape(slice(x, axis=2, end=12), shape=[1,1,3,4])";
  std::string values = "v = reshape(slice(x, axis=2, begin=12, end=16), shape=[1,1,4])";
  std::string second_place = "at";
  std::string results = "y=y, k_next=k_next, v_next=v_next";
  std::string scatter_settings;

  std::string text() const {
    return "x: f32[1,1,16] = input()\nc: f32[1,1,4] = input()\ns: f32[1,1,4] = input()\nat: i64[1] = input()\n"
           "to: i64[1] = input()\nlength: i64[1] = input()\nk: f32[3,1,4] = input()\nvs: f32[3,1,4] = input()\n" +
           heads +
           "\nr = rope(h, c, s)\nq = slice(r, axis=2, end=2)\n"
           "k_row = reshape(slice(r, axis=2, begin=2, end=3), shape=[1,1,4])\n" +
           values + "\nk_next = scatter(k, at, k_row" + scatter_settings + ")\nv_next = scatter(vs, " + second_place +
           ", v)\n"
           "y = attention(q, length, reshape(k_next, shape=[1,3,1,4]), reshape(v_next, shape=[1,3,1,4]), "
           "slots=length)\n"
           "state k, next=k_next, initial=constant(values=[1,2,3,4,5,6,7,8,9,10,11,12])\n"
           "state vs, next=v_next, initial=constant(values=[9,8,7,6,5,4,3,2,1,0,1,2])\nreturn " +
           results;
  }
};
// The heads, normalised by a region as merge_norms leaves it.
std::string normed(const std::string& square) {
  return "w: f32[3,4] = constant()\nh = region(reshape(slice(x, axis=2, end=12), shape=[1,1,3,4]), w, program=\"r2=" +
         square +
         "(r0);r3=row_mean(r2);r4=add(r3,0.25);r5=rsqrt(r4);r6=mul(r0,r5);r7=add(r1,1);r8=mul(r6,r7);return "
         "r8:f32\")";
}

// Two tokens, one after another: the second attention sees what the first run stored.
std::vector<float> answers(const Graph& graph) {
  std::vector<NamedTensors> runs;
  for (int64_t token : {0, 1}) {
    std::vector<float> x;
    for (int i = 0; i < 16; ++i) x.push_back(std::sin(static_cast<float>(i * i + 3 * token)));
    runs.push_back({{"x", Tensor::of<float>({1, 1, 16}, x)},
                    {"c", Tensor::of<float>({1, 1, 4}, {0.5f, 0.25f, 0.5f, 0.25f})},
                    {"s", Tensor::of<float>({1, 1, 4}, {0.75f, -0.5f, 0.75f, -0.5f})},
                    {"at", Tensor::of<int64_t>({1}, {token})},
                    {"to", Tensor::of<int64_t>({1}, {2 - token})},
                    {"length", Tensor::of<int64_t>({1}, {token + 1})}});
  }
  return answers_of(graph, runs);
}

void expect_fused(const Layer& step, const std::string& wanted) {
  const PassRun run = run_pass(fuse_caches, graph_of(step.text()));
  EXPECT_EQ(run.notes, std::vector<std::string>{"1 projection goes to caches and attention in one op"});
  EXPECT_NE(expression(run.graph).find(wanted), std::string::npos) << expression(run.graph);
  for (const char* gone : {"scatter", "rope", "slice"}) EXPECT_EQ(count_ops(run.graph, gone), 0u) << gone;
  const auto got = answers(run.graph), before = answers(graph_of(step.text()));
  ASSERT_EQ(got.size(), before.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], before[i], 1e-5f) << i;
}
void expect_left(const Layer& step) { expect_unchanged(fuse_caches, step.text()); }

TEST(FuseCaches, RotatesAndStoresInOneOp) {
  expect_fused({}, "cache_heads(x, k, vs, at, reshape(c, shape=[1,4]), reshape(s, shape=[1,4]))");
}
TEST(FuseCaches, NormalisesHeads) {
  expect_fused({.heads = normed("square")}, "reshape(s, shape=[1,4]), w, eps=0.25, weight_offset=1)");
}
TEST(FuseCaches, LeavesARegionThatIsNoNorm) { expect_left({.heads = normed("exp")}); }
TEST(FuseCaches, LeavesCachesOfTwoPlaces) { expect_left({.second_place = "to"}); }
TEST(FuseCaches, LeavesACacheThatSums) { expect_left({.scatter_settings = ", kind=add"}); }
TEST(FuseCaches, LeavesValuesOfAnotherProduct) {
  expect_left({.values = "z: f32[1,1,16] = input()\nv = reshape(slice(z, axis=2, begin=12, end=16), shape=[1,1,4])"});
}
TEST(FuseCaches, LeavesHeadsThatAreNotBesideTheValues) {
  expect_left({.values = "v = reshape(slice(x, axis=2, begin=8, end=12), shape=[1,1,4])"});
}
TEST(FuseCaches, LeavesWhatSomeoneElseReads) {
  const std::string states = "k_next=k_next, v_next=v_next";
  expect_left({.results = "y=y, e=exp(q), " + states});
  expect_left({.results = "y=y, e=exp(r), " + states});
  expect_left({.results = "y=y, e=exp(x), " + states});
  expect_left({.results = "y=y, e=exp(k_row), " + states});
  expect_left({.results = "y=y, e=exp(k), " + states});
  expect_left({.results = "y=y, e=exp(k_next), " + states});
}
TEST(FuseCaches, LeavesStatesThatBecomeSomethingElse) { expect_left({.results = "y=y, k_next=v_next, v_next=k_next"}); }
TEST(FuseCaches, WantsAKernel) {
  const Graph graph = graph_of(Layer{}.text());
  const PassRun run = run_pass(fuse_caches, graph, [](const Op& op, std::span<const Type>) {
    return as<CacheHeads>(op) ? reject("the device has none") : accept();
  });
  EXPECT_EQ(expression(run.graph), expression(graph));
}

}  // namespace
}  // namespace rung::test
