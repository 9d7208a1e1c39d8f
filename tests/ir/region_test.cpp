// Programs of regions: what parses, what prints, which registers hold rows, and which mistakes are named.
// SPDX-License-Identifier: Apache-2.0
#include "ir/region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string region_error(std::string_view text, size_t inputs) {
  auto program = parse_region(text, inputs);
  return program ? "parsed" : program.error().message;
}

TEST(Region, ParsesElementsReductionsAndResults) {
  auto program = parse_region("r2=row_max(r0); r3 = sub(r0, r2);r4=row_sum( 0.5 );return r3:bf16, r2 : f32,r3:f32", 2);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->inputs, 2u);
  EXPECT_EQ(program->registers(), 5u);
  EXPECT_EQ(program->instructions[0], RegionInstruction(RowReduction{RowKind::max, Register{0}}));
  EXPECT_EQ(program->instructions[1],
            RegionInstruction(PointwiseInstruction{BinaryKind::sub, {Register{0}, Register{2}}}));
  EXPECT_EQ(program->instructions[2], RegionInstruction(RowReduction{RowKind::sum, 0.5f}));
  EXPECT_THAT(program->results,
              ElementsAre(RegionResult{3, DType::bf16}, RegionResult{2, DType::f32}, RegionResult{3, DType::f32}));
}

TEST(Region, PrintsWhatParsesBackToTheSame) {
  for (std::string_view text :
       {"r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=div(r3,r4);return r5:f16", "return r0:bf16",
        "r2=row_mean(r1);r3=row_min(r0);r4=row_product(r2);r5=row_argmax(r3);return r5:i64,r4:f32",
        "r2=row_cumsum(r0);r3=row_cumprod(r2);return r3:f32",
        "r1=bf16(r0);r2=select(r1,r0,-inf);return r2:f32,r1:bf16,r2:bool"}) {
    const size_t inputs = text[1] == 'e' ? 1 : static_cast<size_t>(text[1] - '0');
    auto program = parse_region(text, inputs);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(print_region(*program), text);
  }
}

TEST(Region, TellsRowsFromElements) {
  const Shape shape{2, 3};
  auto program = *parse_region("r3=row_sum(r0);r4=mul(r3,r2);r5=add(r4,r1);r6=neg(r4);r7=exp(1);return r5:f32", 3);
  const std::vector<Type> types{{DType::f32, {2, 3}}, {DType::f32, {3}}, {DType::f32, {2, 1}}};
  EXPECT_THAT(row_registers(program, types, shape), ElementsAre(false, false, true, true, true, false, true, true));
  program = *parse_region("r1=row_cumsum(r0);r2=row_sum(r1);r3=row_cumsum(r2);return r3:f32", 1);
  EXPECT_THAT(row_registers(program, std::vector{types[0]}, shape), ElementsAre(false, false, true, false));
  EXPECT_EQ(region_result_shape(shape, true), (Shape{2, 1}));
  EXPECT_EQ(region_result_shape(shape, false), shape);
}

TEST(Region, NamesWhatIsWrong) {
  EXPECT_THAT(region_error("", 1), HasSubstr("has no results"));
  EXPECT_THAT(region_error("r1=exp(r0)", 1), HasSubstr("wanted 'return r0:f32' at its end"));
  EXPECT_THAT(region_error("r1=exp(r0);return", 1), HasSubstr("in 'return'"));
  EXPECT_THAT(region_error("return ;", 1), HasSubstr("in 'return'"));
  EXPECT_THAT(region_error("return r1:f32", 1), HasSubstr("got result 'r1:f32', wanted one of the registers below r1"));
  EXPECT_THAT(region_error("return r0:f33", 1), HasSubstr("got result 'r0:f33'"));
  EXPECT_THAT(region_error("return r0", 1), HasSubstr("got result 'r0'"));
  EXPECT_THAT(region_error("return r0:f32,r0:f32", 1), HasSubstr("r0 is returned twice as f32"));
  EXPECT_THAT(region_error("return r0:f32;r1=exp(r0)", 1), HasSubstr("got 'r1=exp(r0)' behind the results"));
  EXPECT_THAT(region_error("return r0:f32,r0:f16,r0:bf16,r0:bool,r0:i64,r0:i32,r0:i8,r0:u8,r0:f8e4m3fn", 1),
              HasSubstr("got 9 results, wanted 1 to 8"));
  EXPECT_THAT(region_error("r1=row_top(r0);return r1:f32", 1), HasSubstr("'row_top' is neither"));
  EXPECT_THAT(region_error("r1=row_sum(r1);return r1:f32", 1),
              HasSubstr("row_sum: got r1, wanted one of the registers"));
  EXPECT_THAT(region_error("r1=row_sum(r0,r0);return r1:f32", 1), HasSubstr("got operand 'r0,r0'"));
  EXPECT_THAT(region_error("r2=exp(r0);return r1:f32", 1), HasSubstr("got target 'r2', wanted r1"));
}

TEST(Region, BoundsAProgramsLength) {
  std::string text;
  for (size_t i = 0; i <= kMaxRegionInstructions; ++i) text += fmt::format("r{}=exp(r{});", i + 1, i);
  EXPECT_THAT(region_error(text + "return r1:f32", 1), HasSubstr("got more than 256 instructions"));
}

}  // namespace
}  // namespace rung
