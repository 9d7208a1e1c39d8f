// Pointwise programs: what parses, what prints, and which mistakes are named.
// SPDX-License-Identifier: Apache-2.0
#include "ir/pointwise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text, size_t inputs) {
  auto program = parse_pointwise(text, inputs);
  return program ? "parsed" : program.error().message;
}

TEST(Pointwise, ParsesRegistersLiteralsAndEveryKindOfFunction) {
  auto program = parse_pointwise("r2=mul(r0,0.5); r3 = tanh(r2);r4=bf16(r3);r5=select(r1,r4,-1e-05)", 2);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->inputs, 2u);
  EXPECT_EQ(program->registers(), 6u);
  EXPECT_EQ(program->instructions[0], (PointwiseInstruction{BinaryKind::mul, {Register{0}, 0.5f}}));
  EXPECT_EQ(program->instructions[1], (PointwiseInstruction{UnaryKind::tanh, {Register{2}}}));
  EXPECT_EQ(program->instructions[2], (PointwiseInstruction{Round{DType::bf16}, {Register{3}}}));
  EXPECT_EQ(program->instructions[3], (PointwiseInstruction{Select{}, {Register{1}, Register{4}, -1e-05f}}));
}

TEST(Pointwise, PrintsWhatParsesBackToTheSame) {
  for (std::string_view text : {"r1=exp(r0)", "r2=add(r0,r1);r3=max(r2,0)", "r1=not(r0);r2=f16(r1)",
                                "r1=div(0.33333334,r0);r2=min(r1,inf)", "r3=select(r0,r1,r2)"}) {
    size_t inputs = static_cast<size_t>(text[1] - '0');
    auto program = parse_pointwise(text, inputs);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(print_pointwise(*program), text);
    EXPECT_EQ(*parse_pointwise(print_pointwise(*program), inputs), *program);
  }
}

TEST(Pointwise, NamesWhatIsWrong) {
  EXPECT_THAT(error_of("", 1), HasSubstr("empty"));
  EXPECT_THAT(error_of("r1=exp(r0);", 1), "parsed");
  EXPECT_THAT(error_of("exp(r0)", 1), HasSubstr("wanted r1=..."));
  EXPECT_THAT(error_of("r2=exp(r0)", 1), HasSubstr("got target 'r2', wanted r1"));
  EXPECT_THAT(error_of("r1=exp(r1)", 1), HasSubstr("got r1, wanted one of the registers below r1"));
  EXPECT_THAT(error_of("r1=matmul(r0,r0)", 1), HasSubstr("'matmul' is not an element-wise function"));
  EXPECT_THAT(error_of("r1=add(r0)", 1), HasSubstr("got 1 operands, wanted 2"));
  EXPECT_THAT(error_of("r1=exp(r0,r0)", 1), HasSubstr("wanted 1 operands, got more"));
  EXPECT_THAT(error_of("r1=exp()", 1), HasSubstr("got operand ''"));
  EXPECT_THAT(error_of("r1=exp(r0", 1), HasSubstr("wanted a call"));
  EXPECT_THAT(error_of("r1=exp(r-1)", 1), HasSubstr("got operand 'r-1'"));
  EXPECT_THAT(error_of("r1=exp(r99999999999999)", 1), HasSubstr("got operand"));
  EXPECT_THAT(error_of("r1=exp(r0);;r2=exp(r1)", 1), HasSubstr("in ''"));
}

}  // namespace
}  // namespace rung
