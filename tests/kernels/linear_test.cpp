// Every linear row against a plain f64 loop, on shapes, strides, types and epilogues that hit all tails.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/target.hpp"
#include "linear_case.hpp"
#include "support/tunables.hpp"

namespace rung::cpu {
namespace {

bool rounds_x(const Kernel& row) { return row.name == "linear_amx_bf16" || row.name == "linear_avx512_bf16"; }

// Rows of the test's parameter, or a skip with the row's own reason.
class LinearRow : public ::testing::TestWithParam<const Kernel*> {
 protected:
  const Kernel& row() const { return *GetParam(); }
  // The types that the row takes at all.
  std::vector<LinearCase> typed(LinearCase c) const {
    std::vector<LinearCase> list;
    for (DType w : {DType::f32, DType::bf16, DType::i8})
      for (DType x : {DType::f32, DType::bf16, DType::i8}) {
        c.w = w, c.x = x, c.out = x == DType::i8 ? DType::f32 : x;
        const bool is_typed = x != DType::i8 || w == DType::i8;
        if (is_typed && row().supports(problem_of(c), cpu_info())) list.push_back(c);
      }
    return list;
  }
  void check(const LinearCase& c) const {
    const LinearData data = make_data(c);
    EXPECT_EQ(compare(c, data, run_row(row(), c, data, 1)[0], rounds_x(row())), "");
  }
  void SetUp() override {
    if (!typed({.m = 4, .n = 8, .k = 8}).empty()) return;
    LinearCase c{.m = 4, .n = 8, .k = 8, .x = DType::bf16, .w = DType::bf16, .out = DType::bf16};
    GTEST_SKIP() << row().supports(problem_of(c), cpu_info()).reason;
  }
};

TEST_P(LinearRow, MatchesF64LoopForEveryRowCount) {
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 33, 64, 128, 255})
    for (const LinearCase& c : typed({.m = m, .n = 48, .k = 64})) check(c);
}

TEST_P(LinearRow, MatchesF64LoopForOddColumnsAndDepths) {
  for (int64_t n : {1, 7, 16, 25, 47, 65})
    for (int64_t k : {1, 2, 3, 31, 32, 33, 127})
      for (const LinearCase& c : typed({.m = 5, .n = n, .k = k, .bias = true, .residual = true})) check(c);
}

TEST_P(LinearRow, AppliesEveryActivation) {
  for (Activation a : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
                       Activation::tanh})
    for (const LinearCase& c : typed({.m = 17, .n = 40, .k = 48, .activation = a, .bias = true})) check(c);
}

TEST_P(LinearRow, MultipliesGateByUp) {
  for (Activation a : {Activation::none, Activation::gelu_tanh, Activation::silu})
    for (int64_t n : {9, 24, 50})
      for (LinearCase c : typed({.m = 19, .n = n, .k = 40, .activation = a, .gated = true})) {
        check(c);
        c.bias = c.residual = true;
        check(c);
      }
}

TEST_P(LinearRow, ReadsRowsWithGapsAndNeverTheGaps) {
  for (int64_t gap : {1, 16, 37})
    for (const LinearCase& c : typed({.m = 18, .n = 33, .k = 63, .residual = true, .x_gap = gap})) check(c);
}

TEST_P(LinearRow, ReadsRowsAPageApart) {
  for (const LinearCase& c : typed({.m = 20, .n = 256, .k = 100, .x_gap = 1948})) check(c);
}

TEST_P(LinearRow, TakesMixedTypes) {
  for (DType extra : {DType::f32, DType::bf16})
    for (LinearCase c : typed({.m = 9, .n = 50, .k = 70, .bias = true, .residual = true, .extra = extra})) {
      for (DType out : {DType::f32, DType::bf16}) {
        c.out = out;
        if (row().supports(problem_of(c), cpu_info())) check(c);
      }
    }
}

TEST_P(LinearRow, MatchesF64LoopForEveryTunable) {
  const LinearCase plain{.m = 37, .n = 100, .k = 800, .bias = true, .threads = 2};
  LinearCase with_epilogue = plain;
  with_epilogue.activation = Activation::gelu, with_epilogue.residual = true, with_epilogue.x_gap = 3;
  std::vector<LinearCase> cases = typed(plain), more = typed(with_epilogue);
  cases.insert(cases.end(), more.begin(), more.end());
  for (LinearCase c : cases) {
    for (const Tunable& tunable : row().tunables_for(problem_of(c), cpu_info()))
      for (const Tunable::Values& values : tunable.values) {
        c.params = tunable.params(values);
        c.gated = false;
        check(c);
        c.gated = true;
        if (row().supports(problem_of(c), cpu_info())) check(c);
      }
  }
}

TEST_P(LinearRow, BlocksLongDepthsAndManyRows) {
  for (LinearCase c : typed({.m = 300, .n = 50, .k = 900, .residual = true})) check(c);
}

TEST_P(LinearRow, RepeatsItsBitsForAnyThreadCount) {
  for (LinearCase c : typed({.m = 37, .n = 130, .k = 500, .activation = Activation::gelu, .bias = true})) {
    const LinearData data = make_data(c);
    auto once = run_row(row(), c, data, 3);
    EXPECT_EQ(once[0], once[1]) << c.text();
    EXPECT_EQ(once[0], once[2]) << c.text();
    c.threads = 2;
    EXPECT_EQ(compare(c, data, run_row(row(), c, data, 1)[0], rounds_x(row())), "");
    if (row().packed_bytes && row().name != "linear_onednn") {  // the library picks another kernel for a slice
      EXPECT_EQ(once[0], run_row(row(), c, data, 1)[0]) << c.text();
    }
  }
}

// The library's product must stay a candidate whatever a fusion moved into it.
TEST(OneDnnRow, OffersItsPlainProductAndTheEpilogueApart) {
  const Kernel& row = *cpu_target().kernel_named("linear_onednn");
  CpuInfo cpu;
  const auto offers = [&](const LinearCase& c) {
    const std::vector<Tunable> tunables = row.tunables_for(problem_of(c), cpu);
    return !test::values_of(tunables, "apart").empty();
  };
  EXPECT_FALSE(offers({.m = 4, .n = 64, .k = 64, .residual = true})) << "the epilogue apart needs AVX2";
  cpu.avx2 = true;
  EXPECT_FALSE(offers({.m = 4, .n = 64, .k = 64, .bias = true})) << "nothing to do apart";
  EXPECT_TRUE(offers({.m = 4, .n = 64, .k = 64, .residual = true}));
  EXPECT_TRUE(offers({.m = 4, .n = 64, .k = 64, .activation = Activation::gelu, .bias = true, .threads = 2}));
}

INSTANTIATE_TEST_SUITE_P(All, LinearRow, ::testing::ValuesIn(cpu_target().kernels_for("linear")),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace rung::cpu
