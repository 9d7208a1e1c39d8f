// Computes sums, shares and spans of evidence.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rung::trace {

double per_step(const Analysis& analysis, int64_t count) { return static_cast<double>(count) / analysis.step_count(); }

double step_ms(const Analysis& analysis) { return ms_per_step(analysis, analysis.accounting.time_ns); }

bool is_worthwhile(const Analysis& analysis, double bound_ms) {
  return bound_ms > 0 && bound_ms >= kLeastShare * step_ms(analysis);
}

std::string count_in_words(double count) {
  const bool whole = std::abs(count - std::round(count)) < 1e-9;
  return fmt::format("{:.{}f}", count, whole ? 0 : 1);
}

namespace {

std::optional<size_t> span_at(const std::vector<Span>& spans, int64_t ns) {
  const auto after = std::ranges::upper_bound(spans, ns, {}, &Span::start_ns);
  if (after == spans.begin() || std::prev(after)->end_ns <= ns) return std::nullopt;
  return static_cast<size_t>(after - spans.begin() - 1);
}

}  // namespace

std::optional<size_t> step_at(const Analysis& analysis, int64_t ns) {
  return analysis.steps.spans.empty() ? 0 : span_at(analysis.steps.spans, ns);
}

bool is_host_at_step(const Analysis& analysis, int64_t ns) {
  const Span& wall = analysis.accounting.wall;
  if (analysis.steps.host.empty()) return wall.start_ns <= ns && ns < wall.end_ns;
  return span_at(analysis.steps.host, ns).has_value();
}

void Tally::add(const Tally& other) {
  for (const auto& [event, sum] : other.sums_) add(event, sum.count, sum.ns);
}

void Tally::add(std::string_view event, int64_t count, int64_t ns) {
  auto sum = sums_.find(event);
  if (sum == sums_.end()) sum = sums_.emplace(event, Sum{}).first;
  sum->second.count += count;
  sum->second.ns += ns;
  count_ += count;
  ns_ += ns;
}

std::vector<Evidence> Tally::rows(size_t most) const {
  std::vector<Evidence> rows;
  for (const auto& [event, sum] : sums_) rows.push_back({event, sum.count, ms_of(sum.ns)});
  std::ranges::stable_sort(rows, std::greater{}, &Evidence::ms);
  if (rows.size() <= most + 1) return rows;
  Evidence others{fmt::format("others ({} kinds)", rows.size() - most), 0, 0};
  for (size_t i = most; i < rows.size(); ++i) {
    others.count += rows[i].count;
    others.ms += rows[i].ms;
  }
  rows.resize(most);
  rows.push_back(std::move(others));
  return rows;
}

std::vector<Span> union_of(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::start_ns);
  std::vector<Span> apart;
  for (const Span& span : spans) {
    if (!apart.empty() && span.start_ns <= apart.back().end_ns)
      apart.back().end_ns = std::max(apart.back().end_ns, span.end_ns);
    else
      apart.push_back(span);
  }
  return apart;
}

int64_t length_of(const std::vector<Span>& apart) {
  int64_t length = 0;
  for (const Span& span : apart) length += span.length_ns();
  return length;
}

std::vector<Span> intersection_of(const std::vector<Span>& a, const std::vector<Span>& b) {
  std::vector<Span> common;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Span both{std::max(a[i].start_ns, b[j].start_ns), std::min(a[i].end_ns, b[j].end_ns)};
    if (both.length_ns() > 0) common.push_back(both);
    ++(a[i].end_ns < b[j].end_ns ? i : j);
  }
  return common;
}

}  // namespace rung::trace
