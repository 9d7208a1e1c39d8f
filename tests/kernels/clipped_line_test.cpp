// The clipped lines that programs of one operand compute.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/clipped_line_of.hpp"

#include <gtest/gtest.h>

namespace rung::cpu {
namespace {

using Line = ClippedLine;

std::optional<Line> line_of(std::string_view program) {
  const auto parsed = parse_pointwise(program, 1);
  EXPECT_TRUE(parsed) << program;
  return clipped_line_of(*parsed);
}

TEST(ClippedLines, AreReluClipAndHardSigmoid) {
  EXPECT_EQ(line_of("r1=relu(r0)"), (Line{.low = 0}));
  EXPECT_EQ(line_of("r1=max(r0,0);r2=min(6,r1)"), (Line{.low = 0, .high = 6}));
  EXPECT_EQ(line_of("r1=mul(r0,0.25);r2=add(0.5,r1);r3=max(r2,0);r4=min(r3,1)"),
            (Line{.slope = 0.25f, .shift = 0.5f, .low = 0, .high = 1}));
}

TEST(ClippedLines, AreHardSwishHoweverItIsWritten) {
  const Line line{.slope = 0.25f, .shift = 1, .low = 0, .high = 2, .times_x = true};
  EXPECT_EQ(line_of("r1=add(r0,4);r2=relu(r1);r3=min(r2,8);r4=mul(r0,r3);r5=div(r4,4)"), line);
  EXPECT_EQ(line_of("r1=mul(r0,0.25);r2=sub(r1,-1);r3=max(r2,0);r4=min(r3,2);r5=mul(r4,r0)"), line);
}

TEST(ClippedLines, SwapTheirLimitsBehindANegativeFactor) {
  EXPECT_EQ(line_of("r1=max(r0,1);r2=neg(r1)"), (Line{.slope = -1, .shift = -0.0f, .high = -1}));
  EXPECT_EQ(line_of("r1=min(r0,1);r2=sub(3,r1)"), (Line{.slope = -1, .shift = 3, .low = 2}));
}

TEST(ClippedLines, KeepALimitThatAnotherOnePasses) {
  EXPECT_EQ(line_of("r1=min(r0,1);r2=max(r1,2)"), (Line{.low = 2, .high = 2}));
}

TEST(ClippedLines, AreNoCurvesAndNoDivisors) {
  for (const char* program :
       {"r1=exp(r0)", "r1=mul(r0,r0);r2=mul(r1,r0)", "r1=div(1,r0)", "r1=mul(r0,0)", "r1=mul(r0,r0);r2=add(r1,1)",
        "r1=relu(r0);r2=relu(r0);r3=mul(r1,r2)", "r1=add(r0,r0)", "r1=max(r0,inf)"})
    EXPECT_FALSE(line_of(program)) << program;
}

}  // namespace
}  // namespace rung::cpu
