// Outliers of any size reach the results of their row, and of no other.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/target.hpp"
#include "support/problem_in.hpp"

namespace rung::cpu {
namespace {

constexpr size_t kColumns = 37, kDepth = 40, kOutliers = 3;

// All numbers of 8 bits are 1 and all scales are 1: each result is 40, and what the outliers add to it. The weights of
// these are 1, -1 and 0.5 in every column.
std::vector<float> results(const Kernel& row, const Problem& problem, const std::vector<float>& outliers) {
  const size_t rows = outliers.size() / kOutliers;
  const std::vector<int8_t> x(rows * kDepth, 1), w(kColumns * kDepth, 1);
  const std::vector<float> of_columns(kColumns, 1), of_rows(rows, 1);
  std::vector<float> of_w, out(rows * kColumns);
  for (size_t i = 0; i < kColumns; ++i) of_w.insert(of_w.end(), {1, -1, 0.5f});
  const Bound bound =
      bind(row, problem, {x.data(), w.data(), of_columns.data(), of_rows.data(), outliers.data(), of_w.data()},
           reinterpret_cast<std::byte*>(out.data()));
  Team team(1);
  std::atomic<Fault> fault{Fault::none};
  bound.run(team, &fault);
  return out;
}

TEST(LinearOutliers, ReachTheirRowAlone) {
  const auto graph = parse_graph(
      "y = linear(x:i8[6,40], w:i8[37,40], ws:f32[37], s:f32[6], o:f32[6,3], wo:f32[37,3], "
      "slots=scale+x_scale+x_outliers+w_outliers)");
  ASSERT_TRUE(graph) << graph.error().message;
  const Problem problem = test::problem_in(*graph, graph->outputs()[0].node);
  const float of_rows[][kOutliers] = {{0, 0, 0},        {INFINITY, 0, 0}, {1e6f, 0, 2},
                                      {0, INFINITY, 1}, {NAN, 1, 1},      {0, 7, 1}};
  std::vector<float> outliers;
  for (const auto& row : of_rows) outliers.insert(outliers.end(), row, row + kOutliers);
  size_t rows = 0;
  for (const Kernel* row : cpu_target().kernels_for("linear")) {
    if (!row->supports(problem, cpu_info())) continue;
    ++rows;
    const std::vector<float> y = results(*row, problem, outliers);
    for (size_t c = 0; c < kColumns; ++c) {
      const auto at = [&](size_t i) { return y[i * kColumns + c]; };
      EXPECT_EQ(at(0), 40) << row->name << " " << c;
      EXPECT_EQ(at(1), INFINITY) << row->name << " " << c;
      EXPECT_EQ(at(2), 1000041) << row->name << " " << c;
      EXPECT_EQ(at(3), -INFINITY) << row->name << " " << c;
      EXPECT_TRUE(std::isnan(at(4))) << row->name << " " << c;
      EXPECT_EQ(at(5), 33.5f) << row->name << " " << c;
    }
  }
  EXPECT_GT(rows, 0u);
}

}  // namespace
}  // namespace rung::cpu
