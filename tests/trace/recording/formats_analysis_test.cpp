// One program, told by each profiler, gives the same analysis as far as the formats tell.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/trace_formats.hpp"
#include "trace/analysis/analysis.hpp"

namespace rung::trace {
namespace {

struct Figures {
  std::vector<std::pair<int64_t, int64_t>> steps;
  std::string found_by;
  int64_t wall_ns = 0, busy_ns = 0, host_op_ns = 0, between_ns = 0;
  std::map<std::string_view, std::pair<int, int64_t>> gaps;  // cause -> how many, how long
  std::array<int64_t, 9> by_category_ns{};
  size_t work = 0;
  bool operator==(const Figures&) const = default;
};
void PrintTo(const Figures& f, std::ostream* out) {
  *out << f.steps.size() << " steps by " << f.found_by << ", wall " << f.wall_ns << ", busy " << f.busy_ns << ", host "
       << f.host_op_ns << ", work " << f.work;
  for (const auto& [cause, gap] : f.gaps) *out << ", " << cause << " " << gap.first << " of " << gap.second;
}

Figures figures_of(std::string_view file) {
  const auto recording = read_told_program(file);
  EXPECT_TRUE(recording) << recording.error().message;
  if (!recording) return {};
  const Analysis analysis = analyse(*recording);
  const Accounting& a = analysis.accounting;
  Figures figures{.found_by = analysis.steps.found_by,
                  .wall_ns = a.wall.length_ns(),
                  .busy_ns = a.busy_ns,
                  .host_op_ns = a.host_op_ns,
                  .between_ns = analysis.steps.between_ns,
                  .by_category_ns = a.by_category_ns,
                  .work = analysis.work.size()};
  for (const Span& step : analysis.steps.spans) figures.steps.emplace_back(step.start_ns, step.end_ns);
  for (const Gap& gap : a.gaps) {
    ++figures.gaps[name_of(gap.cause)].first;
    figures.gaps[name_of(gap.cause)].second += gap.span.length_ns();
  }
  return figures;
}

class EveryFullFormat : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, EveryFullFormat,
                         ::testing::Values("nsys.sql", "nsys_2021.sql", "rocpd.sql", "rocprofv3_rocm6",
                                           "rocprofv3_rocm7"),
                         [](const auto& format) {
                           std::string name = format.param;
                           return name.substr(0, name.find('.'));
                         });

// rocprofv3 does not say which copies are of pageable memory, and so block the host: their time is the host's own.
TEST_P(EveryFullFormat, GivesTheSameAnalysis) {
  Figures wanted = figures_of("kineto.json");
  ASSERT_EQ(wanted.steps.size(), 3u);
  ASSERT_GT(wanted.gaps.size(), 1u);
  if (std::string_view(GetParam()).starts_with("rocp")) {
    auto& host = wanted.gaps[name_of(GapCause::host_bound)];
    const auto copies = wanted.gaps.extract(name_of(GapCause::copy));
    ASSERT_FALSE(copies.empty());
    host.first += copies.mapped().first;
    host.second += copies.mapped().second;
  }
  EXPECT_EQ(figures_of(GetParam()), wanted);
}

// Without copies, calls and ranges: the same kernels, and that those of the next step were handed over late. Nothing
// names the steps, so that this time lies between them.
TEST(FormatsAnalysis, OfRocprofIsThatOfKernels) {
  const Figures kineto = figures_of("kineto.json"), figures = figures_of("rocprof/results.csv");
  EXPECT_EQ(figures.steps.size(), 3u);
  EXPECT_EQ(figures.found_by, "repeated kernels");
  EXPECT_EQ(figures.work, 21u);
  for (size_t category = 0; category < figures.by_category_ns.size(); ++category) {
    if (category == static_cast<size_t>(KernelCategory::copy)) continue;
    EXPECT_EQ(figures.by_category_ns[category], kineto.by_category_ns[category]);
  }
  EXPECT_EQ(figures.gaps.count(name_of(GapCause::unknown)), 0u);
  EXPECT_GT(figures.between_ns, 2 * 30'000);
}

}  // namespace
}  // namespace rung::trace
