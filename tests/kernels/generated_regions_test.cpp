// Regions at random as generated code: what the judge gives, whatever is kept, computed again or stored in between.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "kernels/target.hpp"
#include "support/random_regions.hpp"

namespace rung {
namespace {

using test::RegionValues;

class GeneratedRegions : public ::testing::TestWithParam<const char*> {
 protected:
  void compare(RegionValues values) {
    const Kernel& row = *cpu_target().kernel_named(GetParam());
    size_t taken = 0;
    for (uint64_t seed = 0; seed < 400; ++seed) {
      uint64_t drawn = 0;
      test::RegionMaker maker(
          [&](size_t below) {
            return std::min(below - 1, static_cast<size_t>(random_uniform(seed, drawn++) * static_cast<double>(below)));
          },
          values);
      const test::RandomRegion made = maker.make_region();
      const auto verdict = row.supports(made.operands.problem, cpu::cpu_info());
      if (verdict.reason.starts_with("needs ")) GTEST_SKIP() << verdict.reason;
      if (!verdict) continue;
      ++taken;
      ASSERT_EQ(test::difference(row, made, values), "")
          << "seed " << seed << ": " << as<Region>(made.operands.problem.op)->program;
    }
    EXPECT_GT(taken, 300u);
  }
};
INSTANTIATE_TEST_SUITE_P(Rows, GeneratedRegions, ::testing::Values("region_generated_avx512", "region_generated_avx2"),
                         [](const auto& row) { return std::string(row.param); });

TEST_P(GeneratedRegions, GiveTheValuesOfTheirInstructions) { compare(RegionValues::any); }
TEST_P(GeneratedRegions, GiveTheBitsOfWholeNumbers) { compare(RegionValues::whole); }

}  // namespace
}  // namespace rung
