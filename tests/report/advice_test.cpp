// A recording's figures as text, Markdown and HTML: what is shown, and that names cannot do harm.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "report/advice/advice.hpp"
#include "report/advice/tables.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHostile = "k<script>alert(1)</script>\x1b[31m|`\n";

trace::Summary summary_of(std::string_view kernel) {
  trace::Summary s;
  s.file = "trace.json";
  s.format = "PyTorch profiler";
  s.device = "NVIDIA H200";
  s.steps_from = "ProfilerStep ranges";
  s.steps = 2;
  s.step.wall_ms = 9, s.step.busy_ms = 2.25, s.step.kernels = 20;
  s.step.gaps = {{trace::GapCause::host_bound, 6.75, 19}};
  s.step.categories = {{trace::KernelCategory::gemm, 2, 0.8, 15}, {trace::KernelCategory::norm, 0.5, 0.2, 5}};
  s.step.by_kernel = {{std::string(kernel), trace::KernelCategory::gemm, "cuBLAS", 2, 0.8, 15},
                      {"rms_norm", trace::KernelCategory::norm, "", 0.5, 0.2, 5}};
  s.capture_breaks = {{"cudaMalloc", "in aten::empty, between launches", true, 3, 0.3}};
  s.timeline = {{0, 3000, false, trace::KernelCategory::gemm, {}, std::string(kernel)},
                {3000, 9000, true, {}, trace::GapCause::host_bound, {}}};
  s.findings = {{"launch_bound",
                 "the host launches 20 kernels a step too late",
                 {{std::string(kernel), 30, 4}},
                 6.5,
                 "gaps that a graph would close",
                 "capture the step in a graph",
                 {{"PyTorch", "torch.cuda.CUDAGraph"}},
                 "addresses are fixed",
                 "the step without a profiler"}};
  return s;
}

TEST(AdviceText, ShowsTheStepItsPartsAndFindings) {
  const std::string text = advice_text(summary_of("gemm_kernel"), nullptr);
  EXPECT_THAT(text, HasSubstr("trace.json: PyTorch profiler, NVIDIA H200\n"));
  EXPECT_THAT(text, HasSubstr("2 steps (ProfilerStep ranges), median 9.00 ms; the device works 25 % of the time, 20 "
                              "kernels a step"));
  EXPECT_THAT(text, testing::ContainsRegex("GEMM +2.000 +80 % +15\n"));
  EXPECT_THAT(text, testing::ContainsRegex("host-bound launch +6.750 +75 % +19\n"));
  EXPECT_THAT(text, HasSubstr("1. launch_bound: the host launches 20 kernels a step too late\n   at most 6.50 ms of a "
                              "step (72 %): gaps that a graph would close\n"));
  EXPECT_THAT(text, HasSubstr("seen     30 × gemm_kernel, 4.00 ms\n"));
  EXPECT_THAT(text, HasSubstr("PyTorch  torch.cuda.CUDAGraph\n"));
  EXPECT_THAT(text, testing::ContainsRegex("cudaMalloc +0.300 +3 +in aten::empty, between launches\n"));
}

TEST(AdviceText, PassesNothingOnThatATerminalObeys) {
  const std::string text = advice_text(summary_of(kHostile), nullptr);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("`\n |")));
}

TEST(AdviceText, SaysThatNothingWasFound) {
  trace::Summary clean = summary_of("gemm_kernel");
  clean.findings.clear();
  EXPECT_THAT(advice_text(clean, nullptr), HasSubstr("\nNothing found that costs latency.\n"));
}

TEST(AdviceText, BeginsWithWhatToDoFirst) {
  const std::string text = advice_text(summary_of("gemm_kernel"), nullptr);
  EXPECT_THAT(text,
              HasSubstr("\nDo this first: capture the step in a graph\n  the host launches 20 kernels a step too late: "
                        "at most 6.50 ms of a step (72 %).\n  Then record again and compare: rung advise NEW_TRACE "
                        "--against trace.json\n"));
  EXPECT_LT(text.find("Do this first"), text.find("Device work of a step"));
}

TEST(AdviceText, SaysWhatTheRecordingLacksBeforeAllElse) {
  trace::Summary s = summary_of("gemm_kernel");
  s.findings.clear();
  s.notes = {{"lost_launches", "4 of 4 launches have no work in this trace.", true},
             {"outside", "Left out: 7 pieces of work.", false}};
  const std::string text = advice_text(s, nullptr);
  EXPECT_THAT(text,
              HasSubstr("NVIDIA H200\n4 of 4 launches have no work in this trace.\n2 steps (ProfilerStep ranges), "
                        "median 9.00 ms"));
  EXPECT_THAT(text, HasSubstr("kernels a step\nLeft out: 7 pieces of work.\n"));
  EXPECT_THAT(text, HasSubstr("Nothing found in what was recorded."));
  EXPECT_THAT(text, Not(HasSubstr("costs latency")));
}

TEST(AdviceText, SaysNothingOfAStepWithoutWork) {
  trace::Summary s;
  s.file = "trace.json", s.format = "PyTorch profiler";
  s.notes = {{"no_device_work", "No work on a GPU is in this trace.", true}};
  EXPECT_EQ(advice_text(s, nullptr), "trace.json: PyTorch profiler\nNo work on a GPU is in this trace.\n");
  EXPECT_THAT(advice_html(s, nullptr), Not(HasSubstr("What costs latency")));
}

TEST(AdviceMarkdown, EscapesNamesInTables) {
  const std::string page = advice_markdown(summary_of(kHostile), nullptr);
  EXPECT_THAT(page, HasSubstr("# trace.json: PyTorch profiler, NVIDIA H200\n"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("&lt;script>"));
  EXPECT_THAT(page, HasSubstr("### launch\\_bound: the host launches"));
}

TEST(AdviceHtml, HasOneStepAsStripsAndEscapesNames) {
  const std::string page = advice_html(summary_of(kHostile), nullptr);
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("class='c0' x='0.000%' width='33.333%'"));
  EXPECT_THAT(page, HasSubstr("class='loss' x='33.333%' width='66.667%'"));
  EXPECT_THAT(page, HasSubstr("launch_bound"));
}

TEST(AdviceHtml, BeginsWithWhatToDoAndCopyableCommands) {
  const std::string page = advice_html(summary_of("gemm_kernel"), nullptr);
  const size_t first = page.find("Do this first</h2>");
  ASSERT_NE(first, std::string::npos);
  EXPECT_LT(first, page.find("One step</h2>"));
  EXPECT_THAT(page, HasSubstr("<pre class='command' tabindex='0'><code>torch.cuda.CUDAGraph</code></pre>"));
  EXPECT_THAT(
      page,
      HasSubstr("<pre class='command' tabindex='0'><code>rung advise NEW_TRACE --against trace.json</code></pre>"));
  EXPECT_THAT(page, HasSubstr("<summary>the host launches 20 kernels a step too late<span class='sum'>at most"));
  EXPECT_THAT(page, HasSubstr("event.key === 'j'"));
}

TEST(AdviceHtml, JoinsNeighboursThatAreTooNarrowToSee) {
  trace::Summary summary = summary_of("k");
  summary.timeline.clear();
  for (int i = 0; i < 9000; ++i)
    summary.timeline.push_back({static_cast<double>(i), i + 1.0, false, trace::KernelCategory::copy, {}, "k"});
  const std::string page = advice_html(summary, nullptr);
  EXPECT_THAT(page, HasSubstr("copy, 9.00 ms, 9,000 pieces"));
  EXPECT_LT(page.size(), 60'000u);
}

TEST(AdviceText, ShowsTheLongestKernelsAndTheirTotalCount) {
  trace::Summary summary = summary_of("k");
  summary.step.by_kernel.clear();
  for (int i = 1; i <= 200; ++i)
    summary.step.by_kernel.push_back({fmt::format("kernel_{}_", i), trace::KernelCategory::gemm, "", 1.0 / i, 0.01, 1});
  const std::string text = advice_text(summary, nullptr);
  EXPECT_THAT(text, testing::ContainsRegex(fmt::format("Kernels \\(the longest {} of 200\\)", report::kShownKernels)));
  EXPECT_THAT(text, HasSubstr(fmt::format("kernel_{}_", report::kShownKernels)));
  EXPECT_THAT(text, Not(HasSubstr(fmt::format("kernel_{}_", report::kShownKernels + 1))));
}

// Two findings: each with its own number and its own share of the step.
TEST(AdviceText, NumbersFindingsAndDividesEachByTheStep) {
  trace::Summary summary = summary_of("k");
  summary.findings.push_back(summary.findings[0]);
  summary.findings[1].id = "sync_in_step", summary.findings[1].bound_ms = 0.9;
  const std::string text = advice_text(summary, nullptr);
  EXPECT_THAT(text, HasSubstr("\n1. launch_bound: "));
  EXPECT_THAT(text, testing::ContainsRegex("\n2. sync_in_step: [^\n]*\n   at most 900 µs of a step \\(10 %\\)"));
}

TEST(Difference, HasBeforeAndAfterInTheirColumns) {
  trace::Summary before = summary_of("k"), after = before;
  before.step.gaps = {{trace::GapCause::copy, 4, 7}};
  after.step.gaps = {{trace::GapCause::copy, 2.5, 6}};
  after.step.busy_ms = 3;
  after.findings[0].id = "sync_in_step";
  const trace::Difference d = trace::difference(before, after);
  const std::string text = advice_text(after, &d);
  EXPECT_THAT(text, testing::ContainsRegex("copy +4.000 +2.500 +-1.500 +7 +6\n"));
  EXPECT_THAT(text, HasSubstr("device busy 2.25 ms before, 3.00 ms after; no longer found: launch_bound; found only "
                              "after: sync_in_step"));
}

TEST(Difference, ConcernsOneStepAndIsSortedBySize) {
  const trace::Summary before = summary_of("gemm_kernel");
  trace::Summary after = before;
  after.step.wall_ms = 3, after.step.gaps.clear(), after.findings.clear();
  after.step.categories[0].ms = 1;
  const trace::Difference d = trace::difference(before, after);
  EXPECT_DOUBLE_EQ(d.step.before_ms, 9);
  EXPECT_DOUBLE_EQ(d.step.after_ms, 3);
  ASSERT_EQ(d.gaps.size(), 1u);
  EXPECT_DOUBLE_EQ(d.gaps[0].change_ms(), -6.75);
  ASSERT_EQ(d.categories.size(), 2u);
  EXPECT_EQ(d.categories[0].name, "GEMM");
  EXPECT_DOUBLE_EQ(d.categories[0].change_ms(), -1);
  EXPECT_THAT(d.gone, testing::ElementsAre("launch_bound"));
  EXPECT_THAT(d.come, testing::IsEmpty());
  const std::string text = advice_text(after, &d);
  EXPECT_THAT(text, HasSubstr("a step: 9.00 ms before, 3.00 ms after (-6.000 ms)"));
  EXPECT_THAT(text, HasSubstr("no longer found: launch_bound"));
}

}  // namespace
}  // namespace rung
