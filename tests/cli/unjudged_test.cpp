// What the tool says of a low-precision plan that no climb has judged.
// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kPolicy = std::string(RUNG_TEST_DATA) + "/pi0_tiny";

TEST(UnjudgedPlan, IsNamedWhenItComputesInLowPrecision) {
  Tool tool;
  Ran ran = tool.run({"run", kPolicy, "--inputs", kPolicy + "/inputs.npz", "--threads", "1", "--json"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.err, HasSubstr("computes in bf16, and no climb has judged this plan"));
  EXPECT_THAT(ran.out, Not(HasSubstr("judged")));
}

TEST(UnjudgedPlan, IsNotNamedInF32) {
  Tool tool;
  Ran ran =
      tool.run({"run", bert_tiny(), "--shape", kShape, "--inputs", bert_tiny() + "/inputs.npz", "--threads", "1"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.err, Not(HasSubstr("judged")));
}

}  // namespace
}  // namespace rung
