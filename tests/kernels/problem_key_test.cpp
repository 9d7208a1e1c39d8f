// Problem keys.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/problem_key.hpp"

#include <gmock/gmock.h>

#include <set>

#include "support/problems.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

TEST(ProblemKey, NamesLinearsBySizesTypesAndEpilogue) {
  Problem problem = linear_problem(4, 8, 16);
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=f32 threads=1");
  problem.op = Linear{.slots = {LinearSlot::bias, LinearSlot::residual},
                      .epilogue = {.activation = Activation::gelu},
                      .out = DType::bf16};
  problem.inputs.push_back(dense(DType::f32, {8}, true));
  problem.inputs.push_back(dense(DType::f32, {4, 8}));
  problem.threads = 2;
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=bf16 bias act=gelu residual=f32 threads=2");
}

// Which columns they are takes no time, and is no other problem to a tuner.
TEST(ProblemKey, CountsOutliers) {
  Problem problem{.op = Quantize{.to = DType::i8, .outliers = {3, 17}}};
  problem.inputs.push_back(dense(DType::bf16, {4, 384}));
  EXPECT_EQ(problem_key(problem), "quantize bf16[4,384] to=i8 outliers=2 threads=1");
  problem = linear_problem(4, 8, 16);
  problem.op = Linear{.slots = {LinearSlot::x_outliers, LinearSlot::w_outliers}};
  problem.inputs.push_back(dense(DType::f32, {4, 2}));
  problem.inputs.push_back(dense(DType::bf16, {8, 2}, true));
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=f32 outliers=2/bf16 threads=1");
}

TEST(ProblemKey, NamesTheHeadsThatALinearTurns) {
  Problem problem = linear_problem(4, 8, 16);
  problem.op = Linear{.slots = {LinearSlot::cos, LinearSlot::sin}, .epilogue = {.rotated_heads = 1}};
  for (int i = 0; i < 2; ++i) problem.inputs.push_back(dense(DType::bf16, {4, 8}));
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=f32 rotated=1x8 angles=bf16 threads=1");
}

TEST(ProblemKey, NamesWhatALinearTakesOfANorm) {
  Problem problem = linear_problem(4, 32, 64);
  problem.op = Linear{.slots = {LinearSlot::residual, LinearSlot::norm_weight, LinearSlot::squares},
                      .epilogue = {.norm_run = 32}};
  problem.inputs.push_back(dense(DType::f32, {4, 32}));
  problem.inputs.push_back(dense(DType::f32, {32}, true));
  problem.inputs.push_back(dense(DType::f32, {4, 2}));
  EXPECT_EQ(problem_key(problem),
            "linear m=4 n=32 k=64 x=f32 w=f32 out=f32 residual=f32 feeds_norm=f32/32 normed=f32/32 threads=1");
  std::get<Linear>(problem.op).epilogue.norm_run = 16;
  problem.inputs.back() = dense(DType::f32, {4, 1});
  EXPECT_THAT(problem_key(problem), HasSubstr("feeds_norm=f32/16 normed=f32/64"));
}

TEST(ProblemKey, TellsStridedAndDynamicOperandsApart) {
  Problem problem = linear_problem(4, 8, 16);
  problem.inputs[0].strides = {48, 1};
  problem.inputs[1].constant = false;
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=f32 ldx=48 w=dynamic threads=1");
  problem.inputs[0].strides = {1, 4};
  EXPECT_THAT(problem_key(problem), HasSubstr(" x=f32[4,16]{1,4} "));
}

// Whatever of a problem a row may read to choose shows in its name.
TEST(ProblemKey, DistinguishesEveryPropertyOfALinearsOperands) {
  Problem problem = linear_problem(4, 32, 64);
  problem.op = Linear{.slots = {LinearSlot::bias, LinearSlot::residual, LinearSlot::cos, LinearSlot::sin,
                                LinearSlot::norm_weight, LinearSlot::squares},
                      .epilogue = {.rotated_heads = 1, .norm_run = 32},
                      .out = DType::f32};
  for (const Operand& operand : {dense(DType::f32, {32}, true), dense(DType::f32, {4, 32}), dense(DType::f32, {4, 32}),
                                 dense(DType::f32, {4, 32}), dense(DType::f32, {32}, true), dense(DType::f32, {4, 2})})
    problem.inputs.push_back(operand);
  std::set<std::string> keys{problem_key(problem)};
  size_t problems = 1;
  const auto add = [&](size_t i, auto&& change) {
    Problem other = problem;
    change(other.inputs[i]);
    const std::string key = problem_key(other);
    EXPECT_TRUE(keys.insert(key).second) << "operand " << i << ": " << key;
    ++problems;
  };
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    add(i, [](Operand& x) { x.dtype = DType::bf16; });
    add(i, [](Operand& x) { x.constant = !x.constant; });
    add(i, [](Operand& x) { x.strides[x.shape.rank() - 1] = 2; });
    if (problem.inputs[i].shape.rank() < 2) continue;
    add(i, [](Operand& x) { x.strides[0] = 96; });
    add(i, [](Operand& x) { x.strides[0] = 0; });
    add(i, [](Operand& x) { x.strides = {1, x.shape[0]}; });
  }
  EXPECT_EQ(keys.size(), problems);
}

TEST(ProblemKey, NamesOtherOpsByTheirOperandsAndFields) {
  Problem problem{.op = Softmax{.axis = 0}, .inputs = {dense(DType::f32, {2, 3})}, .output = {}};
  problem.inputs[0].strides = {6, 1};
  EXPECT_EQ(problem_key(problem), "softmax f32[2,3]{6,1} axis=0 threads=1");
  problem.inputs[0] = dense(DType::f32, {2, 3}, true);
  EXPECT_EQ(problem_key(problem), "softmax f32[2,3]* axis=0 threads=1");
}

// Measured scales give each layer another factor, which is no reason to tune each layer by itself.
TEST(ProblemKey, IgnoresWhatFactorsAre) {
  const auto key_with = [](float factor) {
    Problem linear = linear_problem(4, 8, 16);
    linear.op = Linear{.epilogue = {.factor = factor}, .out = DType::i8};
    return problem_key(linear);
  };
  EXPECT_EQ(key_with(10.25f), "linear m=4 n=8 k=16 x=f32 w=f32 out=i8 factor=any threads=1");
  EXPECT_EQ(key_with(10.25f), key_with(1e-7f));
  EXPECT_EQ(key_with(1), "linear m=4 n=8 k=16 x=f32 w=f32 out=i8 threads=1");
  const Problem attention{.op = Attention{.factor = 35.5f, .out = DType::i8}};
  EXPECT_THAT(problem_key(attention), HasSubstr("factor=any, out=i8"));
}

TEST(ProblemKey, ReadsKeysOfEarlierBuilds) {
  EXPECT_EQ(without_factors("linear m=1 n=2 scaled factor=1.5e-07 threads=1"),
            "linear m=1 n=2 scaled factor=any threads=1");
  EXPECT_EQ(without_factors("attention f32[1] scale=0.5, factor=2.5, out=i8"),
            "attention f32[1] scale=0.5, factor=any, out=i8");
  EXPECT_EQ(without_factors("rms_norm f32[1] weight_offset=26.9"), "rms_norm f32[1] weight_offset=any");
  EXPECT_EQ(without_factors("rms_norm f32[1] weight_offset=any"), "rms_norm f32[1] weight_offset=any");
}

TEST(ProblemKey, IgnoresParameters) {
  Problem problem = linear_problem(4, 8, 16);
  std::string key = problem_key(problem);
  problem.params["k_block"] = 192;
  EXPECT_EQ(problem_key(problem), key);
}

}  // namespace
}  // namespace rung
