// fuse_attention says what is in the way of a softmax that is almost an attention.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::fuse_attention;

// The reason that the pass gives for the softmax under the label "p".
std::string reason_against(const std::string& text) {
  const PassRun run = run_pass(fuse_attention, graph_of(text));
  EXPECT_EQ(count_ops(run.graph, "attention"), 0u);
  EXPECT_EQ(run.misses.size(), 1u) << text;
  if (run.misses.empty()) return {};
  EXPECT_EQ(run.misses[0].label, "p");
  return run.misses[0].reason;
}

TEST(FuseAttention, SaysWhatIsInTheWay) {
  const std::string s = "s = matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])\n", p = "p = softmax(s)  # p\n",
                    y = "y = matmul(p, v:f32[1,2,5,4])\n";
  EXPECT_EQ(reason_against(s + p + y + "return y=y, s=s"), "the scores are an output");
  EXPECT_EQ(reason_against(s + p + y + "return y=y, p=p"), "the weights are an output");
  EXPECT_EQ(reason_against(s + p + y + "z = neg(s)\nreturn y=y, z=z"), "the scores have another reader");
  EXPECT_EQ(reason_against(s + p + y + "z = neg(p)\nreturn y=y, z=z"), "the weights have another reader");
  EXPECT_EQ(reason_against(s + "t = exp(s)\np = softmax(t)  # p\n" + y), "the scores come from exp");
  EXPECT_EQ(reason_against(s + "t = tanh(add(s, m:f32[5]))\np = softmax(t)  # p\n" + y),
            "a mask is added before the scores are capped");
  EXPECT_EQ(reason_against(s + "p = softmax(s, axis=2)  # p\n" + y), "the softmax does not run over the keys");
  EXPECT_EQ(reason_against(s + "t = sub(s, m:f32[5])\np = softmax(t)  # p\n" + y), "the scores come from sub");
  EXPECT_EQ(reason_against(s + "t = mul(s, m:f32[5])\np = softmax(t)  # p\n" + y),
            "the scores are scaled by more than one number");
  EXPECT_EQ(reason_against(s + "t = add(add(add(s, a:f32[5]), b:f32[5]), c:f32[5])\np = softmax(t)  # p\n" + y),
            "more than 2 masks are added to the scores");
}

}  // namespace
}  // namespace rung::test
