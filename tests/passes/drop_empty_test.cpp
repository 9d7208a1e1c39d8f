// drop_empty: values without elements go, and what is computed from them keeps its value.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::drop_empty;

TEST(DropEmpty, LeavesGraphsWithoutThemAlone) {
  expect_unchanged(drop_empty, "y = tanh(concat(a:f32[2,3], b:f32[4,3]))");
}
TEST(DropEmpty, ShortensConcats) {
  expect_rewrite(drop_empty, "y = tanh(concat(a:f32[2,3], b:f32[0,3], c:f32[1,3]))", "y = tanh(concat(a, c))");
  expect_rewrite(drop_empty, "y = tanh(concat(slice(a:f32[2,3], end=0), b:f32[4,3]))", "y = tanh(b)");
}
TEST(DropEmpty, KeepsTheSegmentsThatHaveKeys) {
  expect_rewrite(drop_empty,
                 "y = attention(q:f32[1,2,4,8], pk:f32[1,0,4,8], pv:f32[1,0,4,8], k:f32[1,3,4,8], v:f32[1,3,4,8], "
                 "segments=2, factor=4, out=i8)",
                 "y = attention(q, k, v, factor=4, out=i8)");
}
TEST(DropEmpty, GivesZerosWhereAQueryHasNoKey) {
  expect_equivalent(drop_empty, "y = attention(q:f32[1,2,4,8], k:f32[1,0,4,8], v:f32[1,0,4,8])");
  expect_equivalent(drop_empty, "y = attention(q:f32[1,2,4,8], k:f32[1,0,4,8], v:f32[1,0,4,8], out=f8e4m3fn)");
}
TEST(DropEmpty, ComputesWhatNothingSumsTo) {
  expect_equivalent(drop_empty, "y = add(x:f32[3], reduce(a:f32[0,3], kind=sum, axis=0))");
  expect_equivalent(drop_empty, "y = add(x:f32[2,3], matmul(a:f32[2,0], b:f32[0,3]))");
}
TEST(DropEmpty, DropsChainsThatHaveNoElements) {
  const PassRun run = run_pass(drop_empty, graph_of("x: f32[0,4] = input()\n"
                                                    "y: f32[4,0] = transpose(exp(x), permutation=[1,0])\n"
                                                    "return y=y"));
  EXPECT_EQ(run.graph.size(), 2u) << "the input and a literal";
  EXPECT_EQ(run.graph.inputs().size(), 1u);
}

}  // namespace
}  // namespace rung::test
