// pad_hidden: which values between linears get columns of zeros, and that they change nothing.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

constexpr int64_t kRowBytes = 64;  // 16 elements of f32, 32 of bf16

PassRun pad(const std::string& text, const KernelQuery& has_kernel = {}, int64_t row_bytes = kRowBytes) {
  return run_pass(passes::pad_hidden, graph_of(text), has_kernel, {}, row_bytes);
}
void expect_unpadded(const std::string& text, const KernelQuery& has_kernel = {}, int64_t row_bytes = kRowBytes) {
  EXPECT_EQ(expression(pad(text, has_kernel, row_bytes).graph), expression(graph_of(text)));
}

constexpr const char* kLayer =
    "x: f32[3,8] = input()\nw: f32[510,8] = constant()\nb: f32[510] = constant()\nv: f32[5,510] = constant()\n"
    "c: f32[5] = constant()\nr: f32[3,5] = input()\n";
std::string with_layer(const std::string& rest) { return kLayer + rest; }

TEST(PadHidden, GivesWeightsRowsAndColumnsOfZeros) {
  EXPECT_EQ(expression(pad(with_layer("y = linear(linear(x, w), v)\nreturn y")).graph),
            "y = linear(linear(x, concat(w, broadcast(0, shape=[2,8]))), "
            "concat(v, broadcast(0, shape=[5,2]), axis=1))");
}
TEST(PadHidden, KeepsTheValuesWithBiasActivationAndResidual) {
  for (const char* activation : {"none", "relu", "gelu", "gelu_tanh", "silu", "tanh"}) {
    const std::string text =
        with_layer(fmt::format("h = linear(x, w, b, slots=bias, activation={})\n"
                               "y = linear(h, v, c, r, slots=bias+residual)\nreturn y",
                               activation));
    PassRun run = pad(text);
    EXPECT_EQ(count_ops(run.graph, "concat"), 3u) << activation;
    expect_same_values(graph_of(text), run.graph);
  }
}
TEST(PadHidden, CountsBytesNotColumns) {
  EXPECT_EQ(pad("w: bf16[1000,8] = constant()\nv: bf16[5,1000] = constant()\n"
                "y = linear(linear(x:bf16[3,8], w, out=bf16), v, out=bf16)")
                .notes,
            std::vector<std::string>{"rows of 1 value between linears begin at 64 bytes"});
  expect_unpadded("w: f32[1008,8] = constant()\nv: f32[5,1008] = constant()\ny = linear(linear(x:f32[3,8], w), v)");
}
TEST(PadHidden, FollowsWeightsThatAreDeclaredLate) {
  const std::string text =
      "w: f32[510,8] = constant()\nh = linear(x:f32[3,8], w)\nv: f32[5,510] = constant()\n"
      "y = linear(h, v)\nreturn y";
  PassRun run = pad(text);
  EXPECT_EQ(count_ops(run.graph, "concat"), 2u);
  expect_same_values(graph_of(text), run.graph);
}

TEST(PadHidden, KeepsWhatWouldGrowALot) {
  expect_unpadded("w: f32[100,8] = constant()\nv: f32[5,100] = constant()\ny = linear(linear(x:f32[3,8], w), v)");
}
TEST(PadHidden, KeepsAValueThatSomethingElseReads) {
  expect_unpadded(with_layer("h = linear(x, w)\ny = linear(h, v)\nreturn y, h"));
}
TEST(PadHidden, KeepsAValueWithAResidual) {
  expect_unpadded(with_layer("s: f32[3,510] = input()\ny = linear(linear(x, w, s, slots=residual), v)\nreturn y"));
}
TEST(PadHidden, KeepsGatedLinears) {
  expect_unpadded(
      "w: f32[1020,8] = constant()\nv: f32[5,510] = constant()\n"
      "y = linear(linear(x:f32[3,8], w, gated=true, activation=silu), v)");
}
TEST(PadHidden, KeepsComputedWeights) {
  expect_unpadded(
      "w: f32[510,8] = input()\nv: f32[5,510] = constant()\ny = linear(linear(x:f32[3,8], w), v)\nreturn y");
}
TEST(PadHidden, KeepsWhatNoKernelRuns) {
  expect_unpadded(with_layer("y = linear(linear(x, w), v)\nreturn y"),
                  [](const Op&, std::span<const Type>) { return reject("none"); });
}
TEST(PadHidden, KeepsAllWhereRowsMayBeginAnywhere) {
  expect_unpadded(with_layer("y = linear(linear(x, w), v)\nreturn y"), {}, 1);
}

}  // namespace
}  // namespace rung::test
