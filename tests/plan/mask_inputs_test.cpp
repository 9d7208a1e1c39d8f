// A plan knows its masks by its launches, as the graph does by its ops, whatever passes made of them.
// SPDX-License-Identifier: Apache-2.0
#include "plan/mask_inputs.hpp"

#include "ir/mask_flow.hpp"
#include "plan/named.hpp"
#include "plan/support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

// Masked attention as written, and beside it inputs that are no masks.
constexpr const char* kAttention =
    "scale: f32[] = constant(values=[0.5])\n"
    "mask: f32[1,1,1,5] = input()\n"
    "s = mul(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), scale)\n"
    "a = matmul(softmax(add(s, mask)), v:f32[1,2,5,4])\n"
    "y = exp(add(a, bias:f32[4]))\n"
    "return y=y";

void expect_masks(const char* text, const std::set<std::string>& masks) {
  const Graph graph = graph_of(text);
  for (const Recipe& recipe : {Recipe{}, all_passes()}) {
    const Plan plan = plan_of(graph, recipe);
    for (const PlanInput& input : plan.inputs) {
      EXPECT_EQ(leads_to_mask(plan, input), masks.contains(input.name)) << input.name;
      EXPECT_EQ(leads_to_mask(graph, graph.input_named(input.name)), masks.contains(input.name)) << input.name;
    }
  }
}

TEST(MaskInputs, AreTheSameBeforeAndAfterPasses) {
  expect_masks(kAttention, {"mask"});
  expect_masks("y = softmax(mul(add(linear(x:f32[3,4], w:f32[5,4]), m:f32[3,5]), n:f32[5]))\nreturn y=y", {"m", "n"});
  expect_masks("y = softmax(add(exp(x:f32[3,5]), cast(m:bf16[5], to=f32)))\nreturn y=y", {"m"});
}

TEST(MaskInputs, OfAnAttentionOpAreRead) {
  const Plan plan = plan_of(kAttention, all_passes());
  EXPECT_TRUE(std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return as<Attention>(s.op); }));
  EXPECT_TRUE(leads_to_mask(plan, *find_named(plan.inputs, "mask")));
}

// A weight as a checkpoint has it, whose values are looked at when a plan is made.
class Stored : public Weight {
 public:
  Stored(std::string name, Tensor value) : Weight(std::move(name), value.type()), value_(std::move(value)) {}
  Result<Tensor> load() const override { return value_; }

 private:
  Tensor value_;
};

Result<Built> build_with(const std::string& mask_op, float value) {
  auto graph = parse_graph("m: f32[2] = constant(name=\"m\")\ny = " + mask_op + "\nreturn y=y",
                           [&](const std::string& name, const Type&) {
                             return std::make_shared<Stored>(name, Tensor::of<float>({2}, {0, value}));
                           });
  EXPECT_TRUE(graph) << graph.error().message;
  return build_plan(*graph, {});
}

TEST(MaskWeights, MayHoldMinusInfinity) {
  EXPECT_TRUE(build_with("softmax(add(x:f32[3,2], m))", -INFINITY));
  EXPECT_TRUE(build_with("softmax(add(x:f32[3,2], add(m, m)))", -INFINITY)) << "computed from constants alone";
  for (float bad : {NAN, INFINITY}) EXPECT_FALSE(build_with("softmax(add(x:f32[3,2], m))", bad)) << bad;
  auto other = build_with("exp(add(x:f32[3,2], m))", -INFINITY);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("tensor 'm' f32[2]: got 0 NaN and 1 infinite values, 1 of them -inf"));
}

}  // namespace
}  // namespace rung
