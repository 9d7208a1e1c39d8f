// Every GPU kernel row agrees with the reference evaluator on every problem it supports, at every value of its
// tunables.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "gpu_harness.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/params_text.hpp"
#include "support/device.hpp"
#include "support/gpu_word.hpp"

namespace rung::test {
namespace {

class GpuKernelRow : public ::testing::TestWithParam<const Kernel*> {};
INSTANTIATE_TEST_SUITE_P(All, GpuKernelRow, ::testing::ValuesIn(gpu::all_kernels().begin(), gpu::all_kernels().end()),
                         [](const auto& row) { return std::string(row.param->name); });

// Every tunable at each value that is worth trying, the others at their defaults.
std::vector<Params> settings_of(const Target& target, const Kernel& row, const Problem& problem) {
  std::vector<Params> settings{{}};
  for (const Tunable& tunable : row.tunables_for(problem, target.machine))
    for (const Tunable::Values& values : tunable.values_to_try()) {
      // An emulator would do the same once more.
      if (target.machine.gpu.counts_instructions && values == tunable.values[0]) continue;
      settings.push_back(tunable.params(values));
    }
  return settings;
}

std::string text_of(const Kernel& row, const Case& test) {
  return fmt::format("{}{}: {}", row.name, params_text(test.problem.params), test.text);
}

// An error is why the row could not run it.
Status expect_conformance(const Target& target, const Kernel& row, const Case& test) {
  const std::string text = text_of(row, test);
  SCOPED_TRACE(text);
  if (takes_part()) fmt::print(stderr, "{}\n", text);  // where a slow checker is
  auto outcome = run_gpu_row(target, row, test);
  if (!outcome) {
    EXPECT_FALSE(device_failed(outcome)) << outcome.error().message;
    return tl::unexpected(outcome.error());
  }
  EXPECT_EQ(difference(outcome->outputs, test), "");
  EXPECT_TRUE(outcome->in_bounds) << "wrote outside its output or scratch";
  EXPECT_TRUE(outcome->repeatable) << "two calls gave different bits";
  EXPECT_EQ(outcome->fault, Fault::none);
  return {};
}

// All problems of its op that it takes, each at every setting; where it takes none, it says why.
void expect_row_conforms(const Target& target, const Kernel& row) {
  int supported = 0;
  std::string reason = "no problem of this op in the table";
  compile_for(target, row, unanswered_cases_of(row.op));
  for (const Case& asked : unanswered_cases_of(row.op)) {
    ASSERT_NE(asked.node, kNoNode);
    Verdict verdict = target.supports(row, asked.problem);
    if (!verdict) {
      reason = verdict.reason;
      continue;
    }
    const auto& test = answered(asked);
    ASSERT_TRUE(test) << asked.text << "\n" << test.error().message;
    ++supported;
    for (auto& setting : settings_of(target, row, asked.problem)) {
      Case tuned = *test;
      tuned.problem.params = setting;
      // A library may offer fewer algorithms than there are numbers for them; its default always runs, and ours all do.
      Status ran = expect_conformance(target, row, tuned);
      ASSERT_TRUE(ran || (row.prepare && !setting.empty())) << asked.text << ": " << ran.error().message;
    }
  }
  if (supported == 0) GTEST_SKIP() << reason;
}

TEST_P(GpuKernelRow, AgreesWithTheReference) {
  auto target = open_target(gpu_word());
  if (!target) GTEST_SKIP() << target.error().message;
  expect_row_conforms(**target, *GetParam());
}

// The same rows on AMD's machine code, with all that the emulator detects.
using EmulatedRow = std::tuple<const char*, const Kernel*>;
class EmulatedKernelRow : public ::testing::TestWithParam<EmulatedRow> {};
INSTANTIATE_TEST_SUITE_P(All, EmulatedKernelRow,
                         ::testing::Combine(::testing::Values("emu:gfx942", "emu:gfx950"),
                                            ::testing::ValuesIn(gpu::all_kernels().begin(), gpu::all_kernels().end())),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param)).substr(4) + "_" +
                                  std::string(std::get<1>(row.param)->name);
                         });

TEST_P(EmulatedKernelRow, AgreesWithTheReference) {
  auto target = open_target(std::get<0>(GetParam()));
  if (!target) GTEST_SKIP() << target.error().message;
  expect_row_conforms(**target, *std::get<1>(GetParam()));
}

// Returns whether passes make the form only where a row takes it.
bool is_made_for_rows(const Op& op) {
  const auto* linear = as<Linear>(op);
  const auto* conv = as<Conv>(op);
  const auto* quantize = as<Quantize>(op);
  const bool quantizes = quantize && (quantize->group > 0 || !quantize->outliers.empty());
  return quantizes || (linear && linear->is_extended()) || (conv && (!conv->tail.empty() || conv->is_of_integers())) ||
         as<GroupNorm>(op) || as<CachedAttention>(op);
}

void expect_rows_for_all_problems(std::string_view device) {
  auto target = open_target(device);
  if (!target) GTEST_SKIP() << target.error().message;
  for (const Case& test : unanswered_cases()) {
    if (is_made_for_rows(test.problem.op) || has_another_machines_f8(test.problem, (*target)->machine.gpu)) continue;
    auto rows = (*target)->kernels_for(op_family(test.problem.op));
    const bool has_row = std::any_of(rows.begin(), rows.end(),
                                     [&](const Kernel* row) { return (*target)->supports(*row, test.problem).yes; });
    EXPECT_TRUE(has_row) << test.text;
  }
}

TEST(GpuKernelTable, EveryProblemHasARow) { expect_rows_for_all_problems(gpu_word()); }
TEST(EmulatedKernelTable, EveryProblemHasARow) { expect_rows_for_all_problems("emu:gfx942"); }

TEST(GpuKernelRows, OfGatherReportAnIndexOutOfRange) {
  auto target = open_target(gpu_word());
  if (!target) GTEST_SKIP() << target.error().message;
  for (const char* bad : {"3", "-1"}) {
    Case test = make_case("y = gather(x:f32[3,4], index:i64[2])");
    test.inputs["index"].as<int64_t>()[1] = std::atoi(bad);
    for (const Kernel* row : (*target)->kernels_for("gather")) {
      auto outcome = run_gpu_row(**target, *row, test);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_EQ(outcome->fault, Fault::index_out_of_range) << row->name;
    }
  }
}

// A cache may hold anything behind a text, which may be no numbers.
void expect_nothing_read_behind_texts(std::string_view device) {
  auto target = open_target(device);
  if (!target) GTEST_SKIP() << target.error().message;
  for (const char* text : {"y = attention(q:bf16[1,1,8,64], length37:i64[1], k:bf16[1,90,2,64], v:bf16[1,90,2,64], "
                           "slots=length, scale=0.125, after=0)",
                           "y = attention(q:bf16[1,30,8,64], length37:i64[1], k:bf16[1,90,2,64], v:bf16[1,90,2,64], "
                           "slots=length, scale=0.125, after=0)",
                           "y = attention(q:bf16[1,70,2,128], length77:i64[1], k:bf16[1,300,2,128], "
                           "v:bf16[1,300,2,128], slots=length, scale=0.088)"}) {
    Case test = make_case(text);
    for (const char* name : {"k", "v"}) {
      Tensor& cache = test.inputs.at(name);
      const auto length = static_cast<size_t>(test.inputs.lower_bound("length")->second.as<int64_t>()[0]);
      const size_t begin = length * cache.bytes() / static_cast<size_t>(cache.shape()[1]);
      std::memset(static_cast<std::byte*>(cache.data()) + begin, 0xff, cache.bytes() - begin);  // not a number
    }
    for (const Kernel* row : (*target)->kernels_for("attention"))
      if ((*target)->supports(*row, test.problem)) {
        EXPECT_TRUE(expect_conformance(**target, *row, test)) << text;
      }
  }
}

TEST(GpuKernelRows, OfCachesReadNothingBehindTexts) { expect_nothing_read_behind_texts(gpu_word()); }
TEST(EmulatedKernelRows, OfCachesReadNothingBehindTexts) { expect_nothing_read_behind_texts("emu:gfx942"); }

void expect_zero_divisors_reported(const Target& target, const std::string& text) {
  int rows = 0;
  Case test = make_case(text);
  test.inputs["nonzero"].as<int64_t>()[69] = 0;
  for (const Kernel* row : target.kernels_for(op_family(test.problem.op))) {
    if (!target.supports(*row, test.problem)) continue;
    auto outcome = run_gpu_row(target, *row, test);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->fault, Fault::integer_divided_by_zero) << row->name;
    ++rows;
  }
  EXPECT_GT(rows, 0) << text;
}

TEST(GpuKernelRows, OfIntegerDivisionReportAZero) {
  auto target = open_target(gpu_word());
  if (!target) GTEST_SKIP() << target.error().message;
  expect_zero_divisors_reported(**target, "y = div(x:i64[70], nonzero:i64[70])");
  expect_zero_divisors_reported(**target, "y = formula(x:i64[70], nonzero:i64[70], kind=floor_mod)");
}

}  // namespace
}  // namespace rung::test
