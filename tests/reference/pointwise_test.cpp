// Pointwise programs equal the chain of ops that they stand for.
// SPDX-License-Identifier: Apache-2.0
#include "reference/run.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Inputs kOperands{{"a", f32({2, 3}, {0.1f, -2, 3, 0.25f, 5, -0.7f})}, {"b", f32({3}, {0.3f, 1.5f, -1})}};
const Inputs kMixed{{"ids", i64({3}, {0, 5, 7})}, {"keep", flags({3}, {1, 0, 1})}};

std::string text_of(const std::string& operands, const std::string& program, DType out = DType::f32) {
  return fmt::format("pointwise({}, program=\"{}\", out={})", operands, program, out);
}

TEST(PointwiseReference, EqualsTheChainBitByBit) {
  Tensor chain = run("tanh(mul(add(a:f32[2,3], b:f32[3]), b))", kOperands);
  Tensor fused = run(text_of("a:f32[2,3], b:f32[3]", "r2=add(r0,r1);r3=mul(r2,r1);r4=tanh(r3)"), kOperands);
  EXPECT_THAT(fused.as<float>(), testing::ElementsAreArray(chain.as<float>()));
}

TEST(PointwiseReference, TakesLiteralsAndSelects) {
  Tensor y = run(text_of("a:f32[2,3]", "r1=gt(r0,0);r2=mul(r0,0.5);r3=select(r1,r2,-1)"), kOperands);
  expect_values(y, {0.05, -1, 1.5, 0.125, 2.5, -1}, 1e-7);
}

TEST(PointwiseReference, RoundsInTheMiddleWhenToldTo) {
  Inputs inputs{{"x", f32({2}, {1 + 0x1p-9f, 3})}};
  expect_values(run(text_of("x:f32[2]", "r1=bf16(r0);r2=sub(r0,r1)"), inputs), {0x1p-9, 0}, 0);
  expect_values(run(text_of("x:f32[2]", "r1=f16(r0);r2=sub(r0,r1)"), inputs), {0, 0}, 0);
}

TEST(PointwiseReference, ReadsAndWritesOtherTypes) {
  Tensor y = run(text_of("ids:i64[3], keep:bool[3]", "r2=mul(r0,r1)", DType::bf16), kMixed);
  EXPECT_EQ(y.dtype(), DType::bf16);
  expect_values(y, {0, 0, 7}, 0);
  Tensor flag = run(text_of("ids:i64[3], keep:bool[3]", "r2=gt(r0,0);r3=and(r2,r1)", DType::boolean), kMixed);
  EXPECT_THAT(flag.as<bool>(), ElementsAre(false, false, true));
}

TEST(PointwiseReference, ReadsIntegersAsSingles) {
  Inputs inputs{{"n", i64({2}, {(1 << 24) + 1, -(1 << 24) - 1})}};
  expect_values(run(text_of("n:i64[2]", "r1=add(r0,1)"), inputs), {1 << 24, 1 - (1 << 24)}, 0);
}

TEST(PointwiseReference, NamesABadProgram) {
  EXPECT_THAT(error_of(text_of("a:f32[2,3]", "r1=frobnicate(r0)"), kOperands), HasSubstr("frobnicate"));
}

}  // namespace
}  // namespace rung
