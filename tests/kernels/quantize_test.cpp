// The rows of quantize to i8 round as a division does, also where a product with the reciprocal would not.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/bind.hpp"
#include "kernels/target.hpp"

namespace rung::cpu {
namespace {

struct Quantized {
  std::vector<int8_t> numbers;
  float scale = 0;
  std::vector<float> outliers;
};

Problem row_of(int64_t width, const Columns& outliers = {}) {
  Problem problem;
  problem.op = Quantize{.to = DType::i8, .outliers = outliers};
  problem.inputs = {{DType::f32, Shape{1, width}, Strides{width, 1}}};
  problem.output = {DType::i8, Shape{1, width}, Strides{width, 1}};
  return problem;
}

Quantized quantized(const Kernel& row, const std::vector<float>& x, const Columns& outliers = {}) {
  const Problem problem = row_of(static_cast<int64_t>(x.size()), outliers);
  std::vector<std::byte> output(results_of(problem).back().end());
  const Bound bound = bind(row, problem, {x.data()}, output.data());
  Team team(1);
  std::atomic<Fault> fault{Fault::none};
  bound.run(team, &fault);
  Quantized made;
  made.numbers.resize(x.size());
  std::memcpy(made.numbers.data(), output.data(), x.size());
  std::memcpy(&made.scale, output.data() + results_of(problem)[1].offset, sizeof made.scale);
  made.outliers.resize(outliers.size());
  if (!outliers.empty())
    std::memcpy(made.outliers.data(), output.data() + results_of(problem)[2].offset, outliers.size() * sizeof(float));
  return made;
}

// A row whose scale is `scale`, and whose quotients lie in the middle of integers, or a step of a float beside it.
std::vector<float> middles(float scale) {
  std::vector<float> x{scale * 127};
  for (int i = 0; i < 127; ++i)
    for (const float beside : {0.0f, 1.0f, 1000.0f}) {
      const float middle = scale * (static_cast<float>(i) + 0.5f);
      x.push_back(beside == 0 ? middle : std::nextafter(middle, beside * scale * 127 - 1));
    }
  return x;
}

TEST(QuantizeRows, RoundAsADivisionDoes) {
  for (const Kernel* row : cpu_target().kernels_for("quantize")) {
    if (row->role != Role::fast || !row->supports(row_of(8), cpu_info())) continue;
    int between = 0;  // products with the reciprocal that round otherwise
    for (int i = 1; i < 400; ++i) {
      const std::vector<float> x = middles(static_cast<float>(i) * 0.37f);
      const Quantized made = quantized(*row, x);
      EXPECT_EQ(made.scale, x[0] / 127) << row->name;
      for (size_t k = 0; k < x.size(); ++k) {
        const float wanted = std::nearbyint(x[k] / made.scale);
        ASSERT_EQ(static_cast<float>(made.numbers[k]), wanted) << row->name << ": " << x[k] << " by " << made.scale;
        between += std::nearbyint(x[k] * (1 / made.scale)) != wanted;
      }
    }
    EXPECT_GT(between, 0) << "the rows of this test are those that matter";
  }
}

// At both ends and beside each other, in whole vectors and behind them: others are rounded as if these were not there.
TEST(QuantizeRows, KeepOutliersOfAnySize) {
  const Columns outliers{0, 1, 15, 16, 40, 42};
  std::vector<float> x(43), others;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3.5f;
  others = x;
  const float sizes[] = {INFINITY, -INFINITY, NAN, 1e38f, -1e-40f, 1000};
  for (size_t i = 0; i < outliers.size(); ++i) {
    x[static_cast<size_t>(outliers[i])] = sizes[i];
    others[static_cast<size_t>(outliers[i])] = 0;
  }
  for (const Kernel* row : cpu_target().kernels_for("quantize")) {
    if (!row->supports(row_of(43, outliers), cpu_info())) continue;
    const Quantized made = quantized(*row, x, outliers), wanted = quantized(*row, others);
    EXPECT_EQ(made.numbers, wanted.numbers) << row->name;
    EXPECT_EQ(made.scale, 3.5f / 127) << row->name;
    EXPECT_EQ(std::memcmp(made.outliers.data(), sizes, sizeof sizes), 0) << row->name;
  }
}

}  // namespace
}  // namespace rung::cpu
