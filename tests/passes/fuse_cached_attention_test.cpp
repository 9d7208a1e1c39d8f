// fuse_cached_attention: heads reach their caches and attend over them in one op.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::fuse_cached_attention;

std::string cache_of(const std::string& value) { return "reshape(" + value + ", shape=[1,5,1,4])"; }

// Two heads of queries and one of keys and values, 4 wide, of `rows` tokens; each member is a part of the graph's text.
struct CachedLayer {
  int rows = 1;
  std::string weight;  // of a norm, with its fields
  std::string shown;   // a node for the queries or a cache in another shape
  std::string queries = "h";
  std::string keys = cache_of("kn"), values = cache_of("vn");
  std::string attention = "slots=length, scale=0.5, softcap=2, before=1, after=0";
  std::string length = "length, ";
  std::string results = "y=y, k_next=kn, v_next=vn";

  std::string text() const {
    return fmt::format(
        "x: f32[1,{0},16] = input()\nc: f32[{0},4] = input()\ns: f32[{0},4] = input()\nat: i64[{0}] = input()\n"
        "length: i64[1] = input()\nw: f32[3,4] = constant()\nk: f32[5,1,4] = input()\nvs: f32[5,1,4] = input()\n"
        "h = cache_heads(x, k, vs, at, c, s{1})\nkn = result(h)\nvn = result(h, index=2)\n{8}"
        "y = attention({2}, {3}{4}, {5}, {6})\n"
        "state k, next=k_next, initial=constant(values=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20])\n"
        "state vs, next=v_next, initial=constant(values=[9,8,7,6,5,4,3,2,1,0,1,2,3,4,5,6,7,8,9,0])\nreturn {7}",
        rows, weight, queries, length, keys, values, attention, results, shown);
  }
};

// Three tokens, one after another: the later ones see what the earlier runs stored.
std::vector<float> answers_of_three(const Graph& graph) {
  std::vector<NamedTensors> runs;
  for (const int64_t token : {0, 1, 2}) {
    std::vector<float> x;
    for (int i = 0; i < 16; ++i) x.push_back(std::sin(static_cast<float>(i * i + 3 * token)));
    runs.push_back({{"x", Tensor::of<float>({1, 1, 16}, x)},
                    {"c", Tensor::of<float>({1, 4}, {0.5f, 0.25f, 0.5f, 0.25f})},
                    {"s", Tensor::of<float>({1, 4}, {0.75f, -0.5f, 0.75f, -0.5f})},
                    {"at", Tensor::of<int64_t>({1}, {token})},
                    {"length", Tensor::of<int64_t>({1}, {token + 1})}});
  }
  return answers_of(graph, runs);
}

void expect_one_op(const CachedLayer& layer, const std::string& wanted) {
  const PassRun run = run_pass(fuse_cached_attention, graph_of(layer.text()));
  EXPECT_EQ(run.notes, std::vector<std::string>{"1 attention took in the way of its heads to their caches"});
  EXPECT_NE(expression(run.graph).find(wanted), std::string::npos) << expression(run.graph);
  for (const char* gone : {"cache_heads", "attention", "reshape"}) EXPECT_EQ(count_ops(run.graph, gone), 0u) << gone;
  EXPECT_EQ(answers_of_three(run.graph), answers_of_three(graph_of(layer.text())));
}
void expect_two_ops(const CachedLayer& layer) { expect_unchanged(fuse_cached_attention, layer.text()); }

TEST(FuseCachedAttention, TakesHeadsAndCachesInOneOp) {
  expect_one_op({}, "cached_attention(x, k, vs, at, c, s, length, scale=0.5, softcap=2, before=1, after=0)");
}
TEST(FuseCachedAttention, KeepsTheNorm) {
  expect_one_op({.weight = ", w, eps=0.25, weight_offset=1"}, "s, w, length, eps=0.25, weight_offset=1, scale=0.5");
}
TEST(FuseCachedAttention, LeavesAnAttentionOfAllPlaces) { expect_two_ops({.attention = "scale=0.5", .length = ""}); }
TEST(FuseCachedAttention, LeavesAScaledResult) {
  for (const char* fields : {"factor=2", "out=i8"})
    expect_two_ops({.attention = "slots=length, scale=0.5, after=0, " + std::string(fields)});
}
TEST(FuseCachedAttention, LeavesQueriesThatSomeoneElseReads) {
  const std::string states = ", k_next=kn, v_next=vn";
  expect_two_ops({.results = "y=y, e=exp(h)" + states});
  expect_two_ops({.results = "y=y, e=h" + states});
  const std::string q = "q = reshape(h, shape=[1,1,2,4])\n";
  expect_two_ops({.shown = q, .queries = "q", .results = "y=y, e=exp(q)" + states});
}
TEST(FuseCachedAttention, LeavesCachesThatSomeoneElseReads) {
  expect_two_ops({.results = "y=y, e=exp(kn), k_next=kn, v_next=vn"});
  expect_two_ops({.results = "y=y, e=exp(vn), k_next=kn, v_next=vn"});
  expect_two_ops({.shown = "s_keys = " + cache_of("kn") + "\n",
                  .keys = "s_keys",
                  .results = "y=y, e=exp(s_keys), k_next=kn, v_next=vn"});
}
TEST(FuseCachedAttention, LeavesAnotherCache) {
  expect_two_ops({.keys = cache_of("vn"), .values = cache_of("kn")});
  expect_two_ops({.keys = cache_of("kn"), .values = cache_of("kn")});
  expect_two_ops({.keys = cache_of("k"), .values = cache_of("vs")});
}
TEST(FuseCachedAttention, WantsAKernel) {
  const Graph graph = graph_of(CachedLayer{.rows = 2}.text());
  const PassRun run = run_pass(fuse_cached_attention, graph, [](const Op& op, std::span<const Type>) {
    return as<CachedAttention>(op) ? reject("other than one token") : accept();
  });
  EXPECT_EQ(expression(run.graph), expression(graph));
}

}  // namespace
}  // namespace rung::test
