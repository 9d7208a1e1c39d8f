// Masks of -inf go through a session, on every recorder and however passes read them; what cannot be meant does not.
// SPDX-License-Identifier: Apache-2.0
#include "plan/support.hpp"
#include "support/fake_target.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::IsNan;

struct MaskCase {
  bool gpu, capture, fused;
};

// Of one query of a single head, q = 0: the mean of the values that the mask leaves.
class Masked : public ::testing::TestWithParam<MaskCase> {
 protected:
  Masked() : target_(GetParam().gpu ? testing::fake_target() : cpu_target()), session_(make()) {}

  Session make() {
    Graph graph = graph_of(
        "s = add(matmul(q:f32[1,1,2,1], kt:f32[1,1,1,3]), mask:f32[2,3])\n"
        "y = matmul(softmax(s), v:f32[1,1,3,1])\n"
        "return y=y");
    Recipe recipe{.capture = GetParam().capture, .threads = GetParam().gpu ? 0 : 1};
    if (GetParam().fused) recipe.rungs = {"attention"};
    auto built = build_plan(graph, recipe, {.target = &target_});
    EXPECT_TRUE(built) << built.error().message;
    bool one_op = false;
    for (const Step& step : built->plan.steps) one_op = one_op || as<Attention>(step.op);
    EXPECT_EQ(one_op, GetParam().fused);
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), std::make_shared<cpu::Team>(1));
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  static NamedTensors masked_by(const std::vector<float>& mask) {
    return {{"q", Tensor::of<float>({1, 1, 2, 1}, {0, 0})},
            {"kt", Tensor::of<float>({1, 1, 1, 3}, {1, 2, 3})},
            {"v", Tensor::of<float>({1, 1, 3, 1}, {4, 8, 30})},
            {"mask", Tensor::of<float>({2, 3}, mask)}};
  }
  std::vector<float> answer(const std::vector<float>& mask) {
    auto outputs = session_.infer(masked_by(mask));
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return {};
    auto values = outputs->at(0).second.as<float>();
    return {values.begin(), values.end()};
  }

  static constexpr float kOut = -INFINITY;
  Target target_;
  Session session_;
};

TEST_P(Masked, KeysAreLeftOut) { EXPECT_THAT(answer({0, 0, kOut, kOut, 0, kOut}), ::testing::ElementsAre(6.0f, 8.0f)); }

// As written there is no number; as one op an attention over no keys is zero.
TEST_P(Masked, QueriesWithoutAKeyAreNanUnlessFused) {
  auto y = answer({kOut, kOut, kOut, 0, 0, kOut});
  ASSERT_EQ(y.size(), 2u);
  if (GetParam().fused)
    EXPECT_EQ(y[0], 0.0f);
  else
    EXPECT_THAT(y[0], IsNan());
  EXPECT_EQ(y[1], 6.0f);
}

TEST_P(Masked, InputsTakeNeitherNaNNorPlusInfinity) {
  for (float bad : {NAN, INFINITY}) {
    Status refused = session_.set_inputs(masked_by({0, kOut, bad, 0, 0, 0}));
    ASSERT_FALSE(refused) << bad;
    EXPECT_THAT(refused.error().message, HasSubstr("input 'mask' f32[2,3]: got ")) << bad;
    EXPECT_THAT(refused.error().message, HasSubstr("1 of them -inf, wanted none but -inf")) << bad;
  }
}

TEST_P(Masked, InputsAreThoseThatReachTheMask) {
  NamedTensors inputs = masked_by({0, 0, 0, 0, 0, 0});
  inputs["v"].as<float>()[1] = kOut;
  Status refused = session_.set_inputs(inputs);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("input 'v' f32[1,1,3,1]: got 0 NaN and 1 infinite values, 1 of them -inf, wanted none; -inf is "
                        "for masks: where adding, scaling, moving or converting an input leads to a softmax, to an "
                        "attention's mask or to sampling"));
}

INSTANTIATE_TEST_SUITE_P(Recorders, Masked,
                         ::testing::Values(MaskCase{false, false, false}, MaskCase{false, false, true},
                                           MaskCase{false, true, true}, MaskCase{true, false, false},
                                           MaskCase{true, false, true}, MaskCase{true, true, true}));

}  // namespace
}  // namespace rung
