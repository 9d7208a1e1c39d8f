// rotate_streams: the channels between RMS norms and the products around them are mixed in weights alone.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::rotate_streams;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Precision kRotatedStream{{.labels = "*", .products = DType::i8, .rotate = true}};

// A decoder's layer without its attention, and the head; the stream has that many channels.
std::string stream(int64_t channels) {
  return fmt::format(
      "ids: i64[1,6] = input()\nt: f32[5,{0}] = constant()\ng: f32[{0}] = constant()\nu: f32[24,{0}] = constant()\n"
      "c: f32[{0}] = constant()\nd: f32[{0},24] = constant()\nf: f32[{0}] = constant()\nh: f32[7,{0}] = constant()\n"
      "e = gather(t, ids, axis=0)  # embed\nn = rms_norm(e, g, weight_offset=1)  # norm\n"
      "a = linear(n, u, activation=gelu)  # up\ns = linear(a, d, c, e, slots=bias+residual)  # down\n"
      "m = rms_norm(s, f)  # final\ny = linear(m, h)  # head\n",
      channels);
}

PassRun rotated_stream(const std::string& text, const Precision& precision = kRotatedStream) {
  return run_pass(rotate_streams, graph_of(text), {}, precision);
}

TEST(RotateStreams, KeepsAnswers) {
  for (const int64_t channels : {16, 24, 6}) {  // one rotation, or blocks of 8, or of 2
    const std::string text = stream(channels) + "return y";
    const PassRun run = rotated_stream(text);
    EXPECT_THAT(run.notes, ElementsAre("1 residual stream is rotated"));
    EXPECT_NE(expression(run.graph), expression(graph_of(text)));
    EXPECT_EQ(run.graph.inputs().size(), 1u);
    expect_same_values(graph_of(text), run.graph, 1e-5);
  }
}

// A norm's large weight is a large channel of what the product reads; afterwards the norm has no weights.
TEST(RotateStreams, LeavesNormsWithoutWeights) {
  const Graph graph = rotated_stream(stream(16) + "return y").graph;
  size_t norms = 0;
  for (NodeId id : graph.order())
    if (const auto* norm = graph.as<RmsNorm>(id)) {
      const auto* ones = graph.as<Broadcast>(graph[id].operands[1]);
      ASSERT_TRUE(ones);
      EXPECT_TRUE(norm->weight_offset == 0 || norm->weight_offset == 1);
      ++norms;
    }
  EXPECT_EQ(norms, 2u);
}

TEST(RotateStreams, PassesViewsAndSums) {
  const std::string text = stream(16) +
                           "o = linear(slice(m, axis=1, begin=5, end=6), h)  # last\n"
                           "r = add(reshape(slice(s, axis=1, begin=2, end=4), shape=[2,16]), "
                           "reshape(slice(e, axis=1, begin=1, end=3), shape=[2,16]))  # sum\n"
                           "z = linear(rms_norm(r, f), h)  # other\nreturn y, o, z";
  const PassRun run = rotated_stream(text);
  EXPECT_THAT(run.notes, ElementsAre("1 residual stream is rotated"));
  expect_same_values(graph_of(text), run.graph, 1e-5);
}

TEST(RotateStreams, LeavesStreamsThatOthersSee) {
  for (const auto& [more, why] : {std::pair("return y, s", "has an output of the model in it, 'down'"),
                                  std::pair("z = tanh(s)  # other\nreturn y, z", "has another reader than RMS norms"),
                                  std::pair("z = tanh(m)  # other\nreturn y, z", "others than products read the norm"),
                                  std::pair("return y, m", "others than products read the norm 'final'")}) {
    const PassRun run = rotated_stream(stream(16) + more);
    EXPECT_EQ(expression(run.graph), expression(graph_of(stream(16) + more)));
    ASSERT_EQ(run.misses.size(), 1u) << more;
    EXPECT_THAT(run.misses[0].reason, HasSubstr(why));
  }
}

TEST(RotateStreams, LeavesWhatNoConstantsMake) {
  const std::string text =
      "x: f32[6,16] = input()\ng: f32[16] = constant()\nw: f32[8,16] = constant()\n"
      "y = linear(rms_norm(x, g), w)  # up\nreturn y";
  const PassRun run = rotated_stream(text);
  EXPECT_EQ(expression(run.graph), expression(graph_of(text)));
  ASSERT_EQ(run.misses.size(), 1u);
  EXPECT_THAT(run.misses[0].reason, HasSubstr("what no constants make"));
}

TEST(RotateStreams, RotatesOnlyWhatIsAskedFor) {
  const Precision plain{{.labels = "*", .products = DType::i8}}, none{{.labels = "*", .rotate = true}};
  for (const Precision& precision : {plain, none}) {
    const PassRun run = rotated_stream(stream(16) + "return y", precision);
    EXPECT_EQ(expression(run.graph), expression(graph_of(stream(16) + "return y")));
    EXPECT_THAT(run.misses, IsEmpty());
  }
}

}  // namespace
}  // namespace rung::test
