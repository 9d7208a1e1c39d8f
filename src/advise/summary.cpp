// An analysis in figures.
// SPDX-License-Identifier: Apache-2.0
#include "advise/summary.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace rung::advise {
namespace {

constexpr double kNsPerMs = 1e6;
double ms_of(int64_t ns) { return static_cast<double>(ns) / kNsPerMs; }

constexpr auto kLongestFirst = [](const auto& a, const auto& b) { return a.ms > b.ms; };

std::vector<GapTotal> gap_totals(const std::vector<Gap>& gaps) {
  std::array<GapTotal, kGapCauseWords.size()> totals{};
  for (const Gap& gap : gaps) {
    GapTotal& total = totals[static_cast<size_t>(gap.cause)];
    total.cause = gap.cause;
    total.ms += ms_of(gap.span.length_ns());
    ++total.count;
  }
  std::vector<GapTotal> found;
  std::ranges::copy_if(totals, std::back_inserter(found), [](const GapTotal& t) { return t.count > 0; });
  std::ranges::stable_sort(found, kLongestFirst);
  return found;
}

// By name; the pool keeps each once, so that its number stands for it.
std::vector<KernelTotal> kernel_totals(const Analysis& analysis) {
  std::unordered_map<uint32_t, KernelTotal> totals;
  double all = 0;
  for (const Work& work : analysis.work) {
    const Event& event = analysis.event(work);
    KernelTotal& total = totals[event.name];
    total.category = work.kind.category;
    total.library = work.kind.library;
    total.ms += ms_of(event.duration_ns);
    all += ms_of(event.duration_ns);
    ++total.count;
  }
  std::vector<KernelTotal> found;
  for (auto& [name, total] : totals) {
    total.name = analysis.recording.strings[name];
    total.share = all > 0 ? total.ms / all : 0;
    found.push_back(std::move(total));
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) { return a.ms != b.ms ? a.ms > b.ms : a.name < b.name; });
  return found;
}

void add_categories(Summary& summary) {
  std::array<CategoryTotal, kCategoryWords.size()> totals{};
  std::vector<std::pair<std::string_view, double>>& libraries = summary.libraries;
  for (const KernelTotal& kernel : summary.by_kernel) {
    CategoryTotal& total = totals[static_cast<size_t>(kernel.category)];
    total.category = kernel.category;
    total.ms += kernel.ms;
    total.share += kernel.share;
    total.count += kernel.count;
    if (kernel.library.empty()) continue;
    auto known = std::ranges::find(libraries, kernel.library, &std::pair<std::string_view, double>::first);
    if (known == libraries.end()) known = libraries.insert(known, {kernel.library, 0});
    known->second += kernel.ms;
  }
  for (const CategoryTotal& total : totals)
    if (total.count > 0) summary.categories.push_back(total);
  summary.unclassified_share = totals[static_cast<size_t>(Category::unclassified)].share;
  std::ranges::stable_sort(summary.categories, kLongestFirst);
  std::ranges::stable_sort(libraries, [](const auto& a, const auto& b) { return a.second > b.second; });
}

// Index of the step whose length is the median; of an even number the lower one.
size_t median_step(const std::vector<Span>& steps) {
  std::vector<size_t> order(steps.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto middle = order.begin() + static_cast<ptrdiff_t>((order.size() - 1) / 2);
  std::ranges::nth_element(order, middle, {}, [&](size_t i) { return steps[i].length_ns(); });
  return *middle;
}

std::vector<Bar> timeline_of(const Analysis& analysis, const Span& step) {
  const auto us_since = [&](int64_t ns) { return static_cast<double>(ns - step.start_ns) / 1e3; };
  std::vector<Bar> bars;
  for (const Work& work : analysis.work) {
    const Event& event = analysis.event(work);
    if (event.start_ns < step.start_ns || event.start_ns >= step.end_ns) continue;
    bars.push_back({us_since(event.start_ns),
                    us_since(event.end_ns()),
                    false,
                    work.kind.category,
                    {},
                    std::string(analysis.name(work))});
  }
  for (const Gap& gap : analysis.accounting.gaps) {
    const Span inside{std::max(gap.span.start_ns, step.start_ns), std::min(gap.span.end_ns, step.end_ns)};
    if (inside.length_ns() <= 0) continue;
    bars.push_back({us_since(inside.start_ns), us_since(inside.end_ns), true, {}, gap.cause, {}});
  }
  std::ranges::stable_sort(bars, {}, &Bar::from_us);
  return bars;
}

}  // namespace

Summary summarise(const std::string& file, const Analysis& analysis) {
  Summary summary;
  const Recording& recording = analysis.recording;
  const Accounting& accounting = analysis.accounting;
  summary.file = file;
  summary.format = recording.format;
  const auto device = static_cast<size_t>(accounting.device);
  if (accounting.device >= 0 && device < recording.device_names.size()) summary.device = recording.device_names[device];
  summary.steps_from = analysis.steps.found_by;
  summary.wall_ms = ms_of(accounting.wall.length_ns());
  summary.busy_ms = ms_of(accounting.busy_ns);
  summary.host_ms = ms_of(accounting.host_op_ns);
  summary.steps = static_cast<int64_t>(std::max<size_t>(analysis.steps.spans.size(), 1));
  summary.kernels =
      std::ranges::count(analysis.work, EventKind::kernel, [&](const Work& work) { return analysis.event(work).kind; });
  summary.gaps = gap_totals(accounting.gaps);
  summary.by_kernel = kernel_totals(analysis);
  add_categories(summary);
  const std::vector<Span>& steps = analysis.steps.spans;
  const Span median = steps.empty() ? accounting.wall : steps[median_step(steps)];
  summary.step_ms = ms_of(median.length_ns());
  summary.timeline = timeline_of(analysis, median);
  summary.findings = advise_on(analysis);
  summary.skipped = recording.skipped;
  return summary;
}

}  // namespace rung::advise
