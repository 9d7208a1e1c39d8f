// Turns an analysis into figures.
// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "trace/findings/evidence.hpp"

namespace rung::trace {
namespace {

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

// Totals by name; the pool keeps each name once, so its number identifies it.
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

void add_categories(Figures& figures) {
  std::array<CategoryTotal, kKernelCategoryWords.size()> totals{};
  std::vector<std::pair<std::string_view, double>>& libraries = figures.libraries;
  for (const KernelTotal& kernel : figures.by_kernel) {
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
    if (total.count > 0) figures.categories.push_back(total);
  figures.unclassified_share = totals[static_cast<size_t>(KernelCategory::unclassified)].share;
  std::ranges::stable_sort(figures.categories, kLongestFirst);
  std::ranges::stable_sort(libraries, [](const auto& a, const auto& b) { return a.second > b.second; });
}

Figures figures_of(const Analysis& analysis) {
  Figures figures;
  figures.wall_ms = ms_of(analysis.accounting.time_ns);
  figures.busy_ms = ms_of(analysis.accounting.busy_ns);
  figures.host_ms = ms_of(analysis.accounting.host_op_ns);
  figures.kernels =
      std::ranges::count(analysis.work, EventKind::kernel, [&](const Work& work) { return analysis.event(work).kind; });
  figures.gaps = gap_totals(analysis.accounting.gaps);
  figures.by_kernel = kernel_totals(analysis);
  add_categories(figures);
  return figures;
}

std::vector<Bar> timeline_of(const Analysis& analysis) {
  const Span& step = analysis.accounting.wall;
  const auto us_since = [&](int64_t ns) { return static_cast<double>(ns - step.start_ns) / 1e3; };
  std::vector<Bar> bars;
  for (const Work& work : analysis.work) {
    const Event& event = analysis.event(work);
    bars.push_back({us_since(event.start_ns),
                    us_since(event.end_ns()),
                    false,
                    work.kind.category,
                    {},
                    std::string(analysis.name(work))});
  }
  for (const Gap& gap : analysis.accounting.gaps)
    bars.push_back({us_since(gap.span.start_ns), us_since(gap.span.end_ns), true, {}, gap.cause, {}});
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
  summary.notes = notes_on(analysis);
  summary.steps = static_cast<int64_t>(std::max<size_t>(analysis.steps.spans.size(), 1));
  summary.outliers = analysis.steps.outliers;
  summary.empty_steps = static_cast<int64_t>(analysis.steps.empty);
  summary.between_ms = ms_of(analysis.steps.between_ns);
  summary.outside = accounting.outside;
  summary.outside_ms = ms_of(accounting.outside_ns);
  summary.launches = analysis.launches;
  const Analysis step = median_step(analysis);
  summary.step = figures_of(step);
  summary.all = figures_of(analysis);
  summary.timeline = timeline_of(step);
  summary.capture_breaks = capture_breaks(step);
  summary.findings = advise_on(analysis);
  summary.skipped = recording.skipped;
  return summary;
}

}  // namespace rung::trace
