// Products of tuning files as problems: operands where they are stored, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/gemm_problem.hpp"

#include <gmock/gmock.h>

#include "kernels/problem_key.hpp"

namespace rung::stacks {
namespace {

using ::testing::HasSubstr;

Problem problem(const GemmShape& shape) {
  auto made = problem_of(shape, 2);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : Problem{};
}
std::string refusal(const GemmShape& shape) {
  auto made = problem_of(shape, 2);
  EXPECT_FALSE(made);
  return made ? "" : made.error().message;
}

// The same key as the climb's, so that both find what either has tuned.
TEST(ProblemOf, ALinearLayerMatchesTheModelsKey) {
  EXPECT_EQ(problem_key(problem({.m = 9, .n = 32, .k = 64})), "linear m=9 n=32 k=64 x=bf16 w=bf16 out=bf16 threads=2");
  EXPECT_EQ(problem_key(problem({.m = 9,
                                 .n = 32,
                                 .k = 64,
                                 .x = ElementType::f32,
                                 .w = ElementType::f32,
                                 .out = ElementType::f32,
                                 .bias = ElementType::f32,
                                 .epilogue = Epilogue::gelu})),
            "linear m=9 n=32 k=64 x=f32 w=f32 out=f32 bias act=gelu_tanh threads=2");
  EXPECT_EQ(problem_key(problem({.m = 9, .n = 32, .k = 64, .x_stride = 128})),
            "linear m=9 n=32 k=64 x=bf16 w=bf16 out=bf16 ldx=128 threads=2");
}

struct StoredAs {
  GemmShape shape;
  Strides x, w;  // of [.., m, k] and [.., k, n]
};
class OtherLayouts : public ::testing::TestWithParam<StoredAs> {};
TEST_P(OtherLayouts, AreReadThroughStrides) {
  const Problem made = problem(GetParam().shape);
  EXPECT_TRUE(as<MatMul>(made.op));
  EXPECT_EQ(made.inputs[0].strides, GetParam().x);
  EXPECT_EQ(made.inputs[1].strides, GetParam().w);
  EXPECT_EQ(made.inputs[0].shape.back(), GetParam().shape.k);
  EXPECT_EQ(made.inputs[1].shape.back(1), GetParam().shape.k);
  EXPECT_EQ(made.output.shape.back(), GetParam().shape.n);
  EXPECT_EQ(made.inputs[1].constant, GetParam().shape.batch == 1) << "weights are a model's, batches are not";
}
INSTANTIATE_TEST_SUITE_P(
    , OtherLayouts,
    ::testing::Values(
        StoredAs{{.m = 4, .n = 6, .k = 8, .layout = GemmLayout::nn}, {8, 1}, {6, 1}},
        StoredAs{{.m = 4, .n = 6, .k = 8, .layout = GemmLayout::nt}, {1, 4}, {6, 1}},
        StoredAs{{.m = 4, .n = 6, .k = 8, .layout = GemmLayout::tt}, {1, 4}, {1, 8}},
        StoredAs{{.m = 4, .n = 6, .k = 8, .w_stride = 10}, {8, 1}, {1, 10}},
        StoredAs{{.m = 4, .n = 6, .k = 8, .layout = GemmLayout::nn, .x_stride = 16, .w_stride = 7}, {16, 1}, {7, 1}},
        StoredAs{{.m = 4, .n = 6, .k = 8, .batch = 3}, {32, 8, 1}, {48, 1, 8}},
        StoredAs{{.m = 4, .n = 6, .k = 8, .batch = 3, .layout = GemmLayout::nn}, {32, 8, 1}, {48, 6, 1}}));

TEST(ProblemOf, SaysWhatIsNotTimed) {
  const GemmShape plain{.m = 4, .n = 6, .k = 8};
  GemmShape shape = plain;
  shape.x = shape.w = ElementType::f8e4m3fn;
  EXPECT_EQ(refusal(shape), "kernels here do not compute in f8e4m3fn");
  shape = plain, shape.x = shape.w = shape.out = ElementType::tf32;
  EXPECT_EQ(refusal(shape), "kernels here do not compute in tf32");
  shape = plain, shape.scaling = Scaling::row;
  EXPECT_EQ(refusal(shape), "products with factors of row are not timed");
  shape = plain, shape.out_stride = 16;
  EXPECT_EQ(refusal(shape), "results are written without gaps, got rows of 6 that are 16 apart");
  shape = plain, shape.layout = GemmLayout::nn, shape.bias = ElementType::bf16;
  EXPECT_THAT(refusal(shape), HasSubstr("bias and epilogue are timed of one TN product"));
  shape = plain, shape.layout = GemmLayout::nn, shape.out = ElementType::f32;
  EXPECT_EQ(refusal(shape), "got types bf16, bf16 and f32, wanted one");
  shape = plain, shape.k = 0;
  EXPECT_NE(refusal(shape), "");
}

TEST(Headroom, IsOfAllProductsOfARun) {
  const GemmShape small{.m = 1, .n = 64, .k = 64}, large{.m = 1, .n = 4096, .k = 4096};
  GemmShape often = small;
  often.count = 10;
  EXPECT_GT(headroom_of(large), headroom_of(small));
  EXPECT_DOUBLE_EQ(headroom_of(often), 10 * headroom_of(small));
}

}  // namespace
}  // namespace rung::stacks
