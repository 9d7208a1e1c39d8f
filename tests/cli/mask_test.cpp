// Masks of -inf through the tool: a plan's file tells which inputs are masks, and verification looks where NaN stands.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "cli/tool.hpp"
#include "import/npz.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

// A plan of y = softmax(x + mask) whose second row the mask may hide.
class MaskedPlan : public testing::Test {
 protected:
  MaskedPlan() {
    auto built = build_plan(graph_of("y = softmax(add(x:f32[2,2], mask:f32[2,2]))\nreturn y=y"), {.threads = 1});
    EXPECT_TRUE(built) << built.error().message;
    EXPECT_TRUE(save_plan(built->plan, plan));
    give("x", {0, 0, 0, 0});
    give("mask", {0, kOut, kOut, kOut});
  }
  void give(const std::string& name, const std::vector<float>& values) {
    inputs[name] = Tensor::of<float>({2, 2}, values);
    EXPECT_TRUE(write_npz(tool / "in.npz", inputs));
  }
  Ran run() { return tool.run({"run", plan, "--inputs", tool / "in.npz", "--outputs", tool / "out.npz"}); }
  Ran verify(const std::vector<float>& reference) {
    EXPECT_TRUE(write_npz(tool / "ref.npz", {{"y", Tensor::of<float>({2, 2}, reference)}}));
    return tool.run({"verify", plan, "--inputs", tool / "in.npz", "--reference", tool / "ref.npz"});
  }

  static constexpr float kOut = -INFINITY;
  Tool tool;
  std::string plan = tool / "masked.rung";
  NamedTensors inputs;
};

TEST_F(MaskedPlan, TakesMinusInfinityInItsMask) {
  Ran ran = run();
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  auto outputs = read_npz(tool / "out.npz");
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_THAT(outputs->at("y").as<float>(), testing::ElementsAre(1.0f, 0.0f, testing::IsNan(), testing::IsNan()));
}

TEST_F(MaskedPlan, RefusesWhatCannotBeMeant) {
  give("mask", {0, INFINITY, kOut, kOut});
  expect_error(run(), 1,
               "input 'mask' f32[2,2]: got 0 NaN and 3 infinite values, 2 of them -inf, wanted none but -inf");
  give("mask", {0, NAN, 0, 0});
  expect_error(run(), 1, "input 'mask' f32[2,2]: got 1 NaN and 0 infinite values, wanted none");
}

TEST_F(MaskedPlan, MayHaveNansOnlyWhereTheReferenceDoes) {
  Ran ran = verify({1, 0, NAN, NAN});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("non-finite 2"));
}

TEST_F(MaskedPlan, IsWrongWhereItDoesNot) {
  Ran ran = verify({1, 0, NAN, 0.5});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(error_line(ran),
              HasSubstr("verification failed: y: element [1,1]: got nan, wanted 0.5; 1 of 4 elements"));
  ran = verify({NAN, 0, NAN, NAN});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(error_line(ran), HasSubstr("y: element [0,0]: got 1, wanted nan"));
}

}  // namespace
}  // namespace rung
