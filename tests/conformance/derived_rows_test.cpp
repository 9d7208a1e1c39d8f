// Every kernel row refuses what is derived from the table's problems, or agrees with the reference: on the processor
// and on AMD's machine code.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "derived.hpp"
#include "gpu_harness.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support/device.hpp"
#include "support/gpu_word.hpp"

namespace rung::test {
namespace {

// Agrees with the reference, writes nowhere else, and reads nothing that its call does not give it.
void expect_answer(const Outcome& outcome, const Case& test) {
  EXPECT_EQ(difference(outcome.outputs, test), "");
  EXPECT_TRUE(outcome.in_bounds) << "wrote outside its output or scratch";
  EXPECT_TRUE(outcome.repeatable) << "two calls gave different bits";
  EXPECT_TRUE(outcome.cut_freely) << "more parts gave different bits";
  EXPECT_EQ(outcome.fault, Fault::none);
}

// A plan copies such an operand into dense memory, so that rows need not take it.
bool updates_what_is_not_dense(const Problem& problem) {
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (updates(problem.op, i) && !problem.inputs[i].contiguous()) return true;
  return false;
}

class DerivedRow : public ::testing::TestWithParam<const Kernel*> {};
INSTANTIATE_TEST_SUITE_P(All, DerivedRow, ::testing::ValuesIn(cpu::all_kernels().begin(), cpu::all_kernels().end()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(DerivedRow, RefusesOrAgrees) {
  const Kernel& row = *GetParam();
  std::string reason = "no problem of this op to derive from";
  int taken = 0;
  for (const Case& asked : derived_cases(row.op)) {
    Problem problem = asked.problem;
    problem.threads = 2;
    const Verdict verdict = row.supports(problem, cpu::cpu_info());
    if (!verdict) {
      reason = verdict.reason;
      if (row.role == Role::fallback) EXPECT_TRUE(updates_what_is_not_dense(asked.problem)) << asked.text << reason;
      continue;
    }
    const auto& test = answered(asked);
    if (!test) continue;
    SCOPED_TRACE(asked.text);
    expect_answer(run_row(row, *test, 2), *test);
    ++taken;
  }
  if (row.role == Role::fallback) EXPECT_GT(taken, 20);
  if (taken == 0) GTEST_SKIP() << reason;
}

// As the target says, which a library may yet refuse when it is asked for the product.
void expect_row_refuses_or_agrees(const Target& target, const Kernel& row) {
  std::string reason = "no problem of this op to derive from";
  int taken = 0;
  compile_for(target, row, derived_cases(row.op));
  for (const Case& asked : derived_cases(row.op)) {
    const Verdict verdict = target.supports(row, asked.problem);
    if (!verdict) {
      reason = verdict.reason;
      continue;
    }
    const auto& test = answered(asked);
    if (!test) continue;
    SCOPED_TRACE(asked.text);
    auto outcome = run_gpu_row(target, row, *test);
    ASSERT_TRUE(outcome) << outcome.error().message;
    expect_answer(*outcome, *test);
    ++taken;
  }
  if (taken == 0) GTEST_SKIP() << reason;
}

class GpuDerivedRow : public ::testing::TestWithParam<const Kernel*> {};
INSTANTIATE_TEST_SUITE_P(All, GpuDerivedRow, ::testing::ValuesIn(gpu::all_kernels().begin(), gpu::all_kernels().end()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(GpuDerivedRow, RefusesOrAgrees) {
  auto target = open_target(gpu_word());
  if (!target) GTEST_SKIP() << target.error().message;
  expect_row_refuses_or_agrees(**target, *GetParam());
}

using EmulatedRow = std::tuple<const char*, const Kernel*>;

// What a row makes of an operand's form is the same code on both machines; where it has matrix instructions, these take
// other fragments on each.
std::vector<EmulatedRow> emulated_rows() {
  std::vector<EmulatedRow> rows;
  for (const Kernel* row : gpu::all_kernels()) {
    rows.emplace_back("emu:gfx942", row);
    if (row->name.ends_with("_cdna") || row->name.ends_with("_mma")) rows.emplace_back("emu:gfx950", row);
  }
  return rows;
}

class EmulatedDerivedRow : public ::testing::TestWithParam<EmulatedRow> {};
INSTANTIATE_TEST_SUITE_P(All, EmulatedDerivedRow, ::testing::ValuesIn(emulated_rows()), [](const auto& row) {
  return std::string(std::get<0>(row.param)).substr(4) + "_" + std::string(std::get<1>(row.param)->name);
});

TEST_P(EmulatedDerivedRow, RefusesOrAgrees) {
  auto target = open_target(std::get<0>(GetParam()));
  if (!target) GTEST_SKIP() << target.error().message;
  expect_row_refuses_or_agrees(**target, *std::get<1>(GetParam()));
}

}  // namespace
}  // namespace rung::test
