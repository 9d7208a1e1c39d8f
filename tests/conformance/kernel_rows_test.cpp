// Every kernel row agrees with the reference evaluator on every problem it supports, on 1, 2 and 3 threads.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.hpp"
#include "ir/finite.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/target.hpp"

namespace rung::test {
namespace {

class KernelRow : public ::testing::TestWithParam<const Kernel*> {};
INSTANTIATE_TEST_SUITE_P(All, KernelRow, ::testing::ValuesIn(cpu::all_kernels().begin(), cpu::all_kernels().end()),
                         [](const auto& row) { return std::string(row.param->name); });

void expect_conformance(const Kernel& row, const Case& test, int threads) {
  SCOPED_TRACE(test.text + "\n" + std::to_string(threads) + " threads");
  Outcome outcome = run_row(row, test, threads);
  EXPECT_EQ(difference(outcome.outputs, test), "");
  EXPECT_TRUE(outcome.in_bounds) << "wrote outside its output or scratch";
  EXPECT_TRUE(outcome.repeatable) << "two calls gave different bits";
  EXPECT_TRUE(outcome.cut_freely) << "more parts gave different bits";
  EXPECT_EQ(outcome.fault, Fault::none);
}

bool may_want_nans(const Case& test) {
  return test.text.find("holes") != std::string::npos || test.text.find("softmax(blind") != std::string::npos;
}

TEST_P(KernelRow, AgreesWithTheReference) {
  const Kernel& row = *GetParam();
  int supported = 0;
  std::string reason = "no problem of this op in the table";
  const std::vector alone{1};  // the evaluator, which a fallback is, has no other threads
  for (const Case& asked : unanswered_cases_of(row.op)) {
    ASSERT_NE(asked.node, kNoNode);
    auto verdict = row.supports(asked.problem, cpu::cpu_info());
    if (!verdict) {
      reason = verdict.reason;
      continue;
    }
    const auto& test = answered(asked);
    ASSERT_TRUE(test) << asked.text << "\n" << test.error().message;
    ++supported;
    EXPECT_TRUE(check_finite("", test->expected[0]) || may_want_nans(*test)) << asked.text;
    for (int threads : row.role == Role::fallback ? alone : std::vector{1, 2, 3})
      expect_conformance(row, *test, threads);
  }
  if (supported == 0) GTEST_SKIP() << reason;
}

TEST(KernelTable, EndsEachFamilyWithItsOneFallback) {
  for (const Kernel* row : cpu::all_kernels()) {
    const auto family = cpu_target().kernels_for(row->op);
    EXPECT_EQ(family.back()->name, std::string(row->op) + "_fallback");
    for (const Kernel* other : family) EXPECT_EQ(other->role == Role::fallback, other == family.back()) << other->name;
  }
}

TEST(KernelTable, FallbacksReadOperandsWhereverTheyBegin) {
  int fallbacks = 0;
  for (auto rows : {cpu::all_kernels(), gpu::all_kernels()})
    for (const Kernel* row : rows) {
      if (row->role != Role::fallback) continue;
      EXPECT_EQ(row->alignment, 1u) << row->name;
      ++fallbacks;
    }
  EXPECT_GT(fallbacks, 0);
}

TEST(KernelTable, EveryProblemHasARow) {
  auto supported = [](const Problem& problem) {
    return std::ranges::any_of(cpu_target().kernels_for(op_family(problem.op)),
                               [&](const Kernel* row) { return cpu_target().supports(*row, problem).yes; });
  };
  for (const Case& test : unanswered_cases()) EXPECT_TRUE(supported(test.problem)) << test.text;
}

TEST(KernelTable, FindsRowsByName) {
  for (const Kernel* row : cpu::all_kernels()) EXPECT_EQ(cpu_target().kernel_named(row->name), row);
  EXPECT_EQ(cpu_target().kernel_named("no_such_row"), nullptr);
}

// Indices of three rows.
void expect_index_faults(const std::string& text) {
  for (const int64_t bad : {3, -1})
    for (const Kernel* row : cpu_target().kernels_for(op_family(make_case(text).problem.op))) {
      Case test = make_case(text);
      if (!row->supports(test.problem, cpu::cpu_info())) continue;
      test.inputs["index"].as<int64_t>()[1] = bad;
      EXPECT_EQ(run_row(*row, test, 2).fault, Fault::index_out_of_range) << row->name << ": " << text;
    }
}
TEST(KernelRows, OfGatherReportAnIndexOutOfRange) {
  expect_index_faults("y = gather(x:f32[3,4], index:i64[2])");
  expect_index_faults("y = gather(x:f32[5,3], index:i64[2], axis=1)");
}
TEST(KernelRows, OfScatterReportAnIndexOutOfRange) {
  expect_index_faults("y = scatter(x:f32[3,4], index:i64[2], z:f32[2,4], kind=add)");
  expect_index_faults("y = scatter(x:bf16[3], index:i64[2], z:bf16[2])");
}

TEST(KernelRows, OfCachesReportAPlaceOutOfRange) {
  expect_index_faults(
      "y = cache_heads(x:f32[2,6], keys:f32[3,1,2], values:f32[3,1,2], index:i64[2], c:f32[2,2], s:f32[2,2])");
  expect_index_faults(
      "y = cached_attention(x:f32[2,6], keys:f32[3,1,2], values:f32[3,1,2], index:i64[2], c:f32[2,2], s:f32[2,2], "
      "length2:i64[1])");
}

TEST(KernelRows, OfIntegerDivisionReportAZero) {
  for (const char* text : {"y = div(x:i64[70], nonzero:i64[70])", "y = div(x:i32[70], nonzero:i32[70])",
                           "y = div(x:i8[3,70], nonzero:i8[70])",
                           "y = formula(x:i32[2,700], transpose(nonzero:i32[700,2], permutation=[1,0]), kind=fmod)"}) {
    SCOPED_TRACE(text);
    int rows = 0;
    Case test = make_case(text);
    for (const Kernel* row : cpu_target().kernels_for(op_family(test.problem.op))) {
      if (!row->supports(test.problem, cpu::cpu_info())) continue;
      EXPECT_EQ(run_row(*row, test, 2).fault, Fault::none) << row->name;
      Case divided = make_case(text);
      std::byte* last = divided.inputs["nonzero"].data() + divided.inputs["nonzero"].bytes();
      std::fill_n(last - size_of(divided.problem.inputs[1].dtype), size_of(divided.problem.inputs[1].dtype),
                  std::byte{});
      EXPECT_EQ(run_row(*row, divided, 2).fault, Fault::integer_divided_by_zero) << row->name;
      ++rows;
    }
    EXPECT_GT(rows, 0);
  }
}

}  // namespace
}  // namespace rung::test
