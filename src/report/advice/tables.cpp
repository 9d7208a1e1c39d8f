// The tables of a recording's summary, in words.
// SPDX-License-Identifier: Apache-2.0
#include "report/advice/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "report/format.hpp"

namespace rung::report {
namespace {

using advise::DifferenceRow;
using advise::Summary;

std::string ms_text(double ms) { return fixed(ms, 3); }
// Counts of a step are whole numbers where every step does the same.
std::string per_step_count(double count) {
  return std::abs(count - std::round(count)) < 1e-6 ? fixed(count, 0) : fixed(count, 1);
}
std::string per_step_count(const Summary& summary, int64_t all) {
  return per_step_count(summary.per_step(static_cast<double>(all)));
}

TextTable category_table(const Summary& summary) {
  TextTable table{"Device work of a step", {"kind", "ms", "share", "launches"}, {}};
  for (const auto& c : summary.categories)
    table.rows.push_back({std::string(name_of(c.category)), ms_text(summary.per_step(c.ms)), percent(c.share),
                          per_step_count(summary, c.count)});
  return table;
}

TextTable gap_table(const Summary& summary) {
  TextTable table{"Where the device stands still", {"cause", "ms", "of the step", "gaps"}, {}};
  for (const auto& g : summary.gaps)
    table.rows.push_back({std::string(name_of(g.cause)), ms_text(summary.per_step(g.ms)),
                          percent(summary.wall_ms > 0 ? g.ms / summary.wall_ms : 0), per_step_count(summary, g.count)});
  return table;
}

TextTable kernel_table(const Summary& summary) {
  TextTable table{"Kernels", {"kernel", "ms", "share", "launches", "kind", "library"}, {}};
  for (const auto& k : summary.by_kernel) {
    if (table.rows.size() == kShownKernels) break;
    table.rows.push_back({k.name, ms_text(summary.per_step(k.ms)), percent(k.share), per_step_count(summary, k.count),
                          std::string(name_of(k.category)), std::string(k.library)});
  }
  if (summary.by_kernel.size() > kShownKernels)
    table.title += fmt::format(" (the longest {} of {})", kShownKernels, summary.by_kernel.size());
  return table;
}

TextTable change_table(std::string title, const std::vector<DifferenceRow>& rows) {
  TextTable table{std::move(title), {"", "before ms", "after ms", "change", "launches before", "after"}, {}};
  for (const DifferenceRow& r : rows) {
    if (table.rows.size() == kShownKernels) break;
    table.rows.push_back({r.name, ms_text(r.before_ms), ms_text(r.after_ms), fmt::format("{:+.3f}", r.change_ms()),
                          per_step_count(r.before_count), per_step_count(r.after_count)});
  }
  return table;
}

std::vector<TextTable> without_empty(std::vector<TextTable> tables) {
  std::erase_if(tables, [](const TextTable& t) { return t.rows.empty(); });
  return tables;
}

}  // namespace

std::string source_line(const Summary& summary) {
  return fmt::format("{}: {}{}{}", summary.file, summary.format, summary.device.empty() ? "" : ", ", summary.device);
}

std::string step_line(const Summary& summary) {
  const double busy = summary.wall_ms > 0 ? summary.busy_ms / summary.wall_ms : 0;
  return fmt::format("{} step{} ({}), median {}; the device works {} of the time, {} kernels a step", summary.steps,
                     summary.steps == 1 ? "" : "s", summary.steps_from, duration_ms(summary.step_ms), percent(busy),
                     per_step_count(summary, summary.kernels));
}

std::string skipped_line(const Summary& summary) {
  std::vector<std::string> parts;
  for (const auto& [reason, events] : summary.skipped) parts.push_back(fmt::format("{}: {}", reason, count(events)));
  return parts.empty() ? "" : fmt::format("left out: {}", fmt::join(parts, "; "));
}

std::vector<TextTable> tables_of(const Summary& summary) {
  return without_empty({category_table(summary), gap_table(summary), kernel_table(summary)});
}

std::vector<TextTable> tables_of(const advise::Difference& difference) {
  return without_empty({change_table("Device work by kind", difference.categories),
                        change_table("Gaps by cause", difference.gaps),
                        change_table("Kernels that changed most", difference.kernels)});
}

std::string difference_line(const advise::Difference& d) {
  std::string line = fmt::format("a step: {} before, {} after ({:+.3f} ms); device busy {} before, {} after",
                                 duration_ms(d.step.before_ms), duration_ms(d.step.after_ms), d.step.change_ms(),
                                 duration_ms(d.busy.before_ms), duration_ms(d.busy.after_ms));
  if (!d.gone.empty()) line += fmt::format("; no longer found: {}", fmt::join(d.gone, ", "));
  if (!d.come.empty()) line += fmt::format("; found only after: {}", fmt::join(d.come, ", "));
  return line;
}

std::string bound_text(const advise::Advice& advice, const Summary& summary) {
  const double mean = summary.per_step(summary.wall_ms);
  return fmt::format("at most {} of a step ({})", duration_ms(advice.bound_ms),
                     percent(mean > 0 ? advice.bound_ms / mean : 0));
}

std::string evidence_text(const advise::Evidence& evidence) {
  return fmt::format("{} × {}, {}", count(evidence.count), evidence.event, duration_ms(evidence.ms));
}

}  // namespace rung::report
