// Programs at random, compiled as a whole, give the bits that their steps give one by one, which are the judge's.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "kernels/target.hpp"
#include "support/random_programs.hpp"

namespace rung {
namespace {

class GeneratedPrograms : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Rows, GeneratedPrograms,
                         ::testing::Values("pointwise_generated_avx512", "pointwise_generated_avx2"),
                         [](const auto& row) { return std::string(row.param); });

TEST_P(GeneratedPrograms, GiveTheBitsOfTheirSteps) {
  const Kernel& row = *cpu_target().kernel_named(GetParam());
  for (uint64_t seed = 0; seed < 300; ++seed) {
    uint64_t drawn = 0;
    test::ProgramMaker maker([&](size_t below) {
      return std::min(below - 1, static_cast<size_t>(random_uniform(seed, drawn++) * static_cast<double>(below)));
    });
    const test::RandomProgram made = maker.make();
    if (const auto verdict = row.supports(made.problem, cpu::cpu_info()); !verdict) GTEST_SKIP() << verdict.reason;
    ASSERT_EQ(test::difference(row, made), "") << "seed " << seed << ": " << as<Pointwise>(made.problem.op)->program;
  }
}

}  // namespace
}  // namespace rung
