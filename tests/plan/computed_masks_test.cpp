// An attention's mask may be an input, a weight, or computed from either or from what the model has computed; plans of
// every rung and precision run with all of them, and are right.
// SPDX-License-Identifier: Apache-2.0
#include "plan/support.hpp"

namespace rung {
namespace {

// A block of a transformer over six tokens, two heads of four; MASK stands for what is added to the scores.
constexpr const char* kBlock =
    "g: f32[8] = constant()\nb: f32[8] = constant()\nwq: f32[8,8] = constant()\nwk: f32[8,8] = constant()\n"
    "wv: f32[8,8] = constant()\nwo: f32[8,8] = constant()\nwm: f32[6,8] = constant()\nscale: f32[] = "
    "constant(values=[0.5])\nmasks: f32[6,6] = constant()\n"
    "h = layer_norm(x:f32[6,8], g, b)\n"
    "q = transpose(reshape(linear(h, wq), shape=[1,6,2,4]), permutation=[0,2,1,3])\n"
    "k = transpose(reshape(linear(h, wk), shape=[1,6,2,4]), permutation=[0,2,3,1])\n"
    "v = transpose(reshape(linear(h, wv), shape=[1,6,2,4]), permutation=[0,2,1,3])\n"
    "s = add(mul(matmul(q, k), scale), MASK)\n"
    "a = reshape(transpose(matmul(softmax(s), v), permutation=[0,2,1,3]), shape=[6,8])\n"
    "y = layer_norm(add(linear(a, wo), x), g, b)\n"
    "return y=y";

constexpr const char* kMasks[] = {
    "m:f32[1,1,1,6]",                                // an input
    "masks",                                         // a weight
    "mul(m:f32[1,1,1,6], scale)",                    // computed from an input
    "cast(m:bf16[6,6], to=f32)",                     // converted
    "add(m:f32[6,6], masks)",                        // of an input and a weight
    "linear(h, wm)",                                 // computed from what the model has computed
    "mul(linear(h, wm), scale)",                     //
    "gelu(linear(h, wm))",                           //
    "add(linear(h, wm), m:f32[6])",                  //
    "transpose(linear(h, wm), permutation=[1,0])",   //
    "slice(linear(h, wm), axis=0, begin=2, end=3)",  //
    "reshape(linear(h, wm), shape=[1,1,6,6])",       //
    "concat(linear(slice(h, axis=0, begin=0, end=3), wm), linear(slice(h, axis=0, begin=3, end=6), wm), axis=0)",
    "gather(linear(h, wm), i:i64[6])",                         // a bias by relative place
    "softmax(linear(h, wm))",                                  //
    "layer_norm(linear(h, wm), n:f32[6], n2:f32[6])",          //
    "matmul(h, transpose(h, permutation=[1,0]))",              // a product of computed values
    "cast(cast(linear(h, wm), to=bf16), to=f32)",              // already rounded
    "reduce(matmul(q, k), kind=mean, axis=1, keep_dim=true)",  // of scores
    "broadcast(reshape(slice(linear(h, wm), axis=1, begin=0, end=1), shape=[1,1,6,1]), shape=[1,2,6,6])",
};

Graph masked_by(std::string mask) {
  std::string text = kBlock;
  text.replace(text.find("MASK"), 4, mask);
  return graph_of(text);
}

class MaskOf : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, MaskOf, ::testing::ValuesIn(kMasks));

TEST_P(MaskOf, ARunOfEveryRungIsRight) {
  const Graph graph = masked_by(GetParam());
  expect_right(graph, {});
  for (const char* rung : {"reduce", "attention", "projection", "fusion"}) expect_right(graph, {.rungs = {rung}});
  expect_right(graph, all_passes());
}

TEST_P(MaskOf, KeepsARunInBf16RightWithinRounding) {
  const Graph graph = masked_by(GetParam());
  const NamedTensors inputs = random_inputs(graph);
  const auto want = evaluate(graph, inputs);
  ASSERT_TRUE(want) << want.error().message;
  Recipe all = in_bf16(), attention{.rungs = {"precision", "attention"}, .precision = everywhere(DType::bf16)},
         alone{.rungs = {"precision"}, .precision = everywhere(DType::bf16)};
  all.threads = 1;
  for (const Recipe& recipe : {all, attention, alone}) {
    const Outputs got = outputs_of(plan_of(graph, recipe), inputs);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_LT(relative_l2(got[0].second, (*want)[0]), 8 * 0x1p-8) << "eight roundings one behind the other";
  }
}

}  // namespace
}  // namespace rung
