// Writes the tables of a recording's summary in words.
// SPDX-License-Identifier: Apache-2.0
#include "report/advice/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "report/format.hpp"

namespace rung::report {
namespace {

using trace::DifferenceRow;
using trace::Figures;
using trace::Summary;

std::string ms_text(double ms) { return fixed(ms, 3); }
// Counts of a step are whole numbers, except in a difference of two steps.
std::string count_text(double count) {
  return std::abs(count - std::round(count)) < 1e-6 ? fixed(count, 0) : fixed(count, 1);
}
std::string count_text(int64_t number) { return count_text(static_cast<double>(number)); }

TextTable category_table(const Figures& step) {
  TextTable table{"Device work of a step", {"kind", "ms", "share", "launches"}, {}};
  for (const auto& c : step.categories)
    table.rows.push_back({std::string(name_of(c.category)), ms_text(c.ms), percent(c.share), count_text(c.count)});
  return table;
}

TextTable gap_table(const Figures& step) {
  TextTable table{"Where the device stands still", {"cause", "ms", "of the step", "gaps"}, {}};
  for (const auto& g : step.gaps)
    table.rows.push_back({std::string(name_of(g.cause)), ms_text(g.ms),
                          percent(step.wall_ms > 0 ? g.ms / step.wall_ms : 0), count_text(g.count)});
  return table;
}

TextTable kernel_table(const Figures& step) {
  TextTable table{"Kernels", {"kernel", "ms", "share", "launches", "kind", "library"}, {}};
  for (const auto& k : step.by_kernel) {
    if (table.rows.size() == kShownKernels) break;
    table.rows.push_back({k.name, ms_text(k.ms), percent(k.share), count_text(k.count),
                          std::string(name_of(k.category)), std::string(k.library)});
  }
  if (step.by_kernel.size() > kShownKernels)
    table.title += fmt::format(" (the longest {} of {})", kShownKernels, step.by_kernel.size());
  return table;
}

TextTable capture_table(const Summary& summary) {
  TextTable table{"What would break the capture of a step as a graph", {"call", "ms", "times", "place"}, {}};
  for (const auto& found : summary.capture_breaks) {
    if (table.rows.size() == kShownKernels) break;
    table.rows.push_back({found.call, ms_text(found.ms), count_text(found.count), found.place});
  }
  return table;
}

TextTable change_table(std::string title, const std::vector<DifferenceRow>& rows) {
  TextTable table{std::move(title), {"", "before ms", "after ms", "change", "launches before", "after"}, {}};
  for (const DifferenceRow& r : rows) {
    if (table.rows.size() == kShownKernels) break;
    table.rows.push_back({r.name, ms_text(r.before_ms), ms_text(r.after_ms), fmt::format("{:+.3f}", r.change_ms()),
                          count_text(r.before_count), count_text(r.after_count)});
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
  const Figures& step = summary.step;
  return fmt::format("{} ({}), median {}; the device works {} of the time, {} kernels a step",
                     counted(summary.steps, "step"), summary.steps_from, duration_ms(summary.step_ms()),
                     percent(step.wall_ms > 0 ? step.busy_ms / step.wall_ms : 0), count_text(step.kernels));
}

std::vector<std::string> lines_of(const Summary& summary) {
  std::vector<std::string> lines;
  for (const auto& note : summary.notes)
    if (note.is_grave) lines.push_back(note.text);
  if (!has_no_work(summary)) lines.push_back(step_line(summary));
  for (const auto& note : summary.notes)
    if (!note.is_grave) lines.push_back(note.text);
  if (std::string skipped = skipped_line(summary); !skipped.empty()) lines.push_back(std::move(skipped));
  return lines;
}

bool has_no_work(const Summary& summary) { return !(summary.step.wall_ms > 0); }

std::string nothing_found(const Summary& summary) {
  if (has_no_work(summary)) return "";
  return summary.is_complete() ? "Nothing found that costs latency." : "Nothing found in what was recorded.";
}

std::string skipped_line(const Summary& summary) {
  std::vector<std::string> parts;
  for (const auto& [reason, events] : summary.skipped) parts.push_back(fmt::format("{}: {}", reason, count(events)));
  return parts.empty() ? "" : fmt::format("left out: {}", fmt::join(parts, "; "));
}

std::vector<TextTable> tables_of(const Summary& summary) {
  return without_empty(
      {category_table(summary.step), gap_table(summary.step), kernel_table(summary.step), capture_table(summary)});
}

std::vector<TextTable> tables_of(const trace::Difference& difference) {
  return without_empty({change_table("Device work by kind", difference.categories),
                        change_table("Gaps by cause", difference.gaps),
                        change_table("Kernels that changed most", difference.kernels)});
}

std::string difference_line(const trace::Difference& d) {
  std::string line = fmt::format("a step: {} before, {} after ({:+.3f} ms); device busy {} before, {} after",
                                 duration_ms(d.step.before_ms), duration_ms(d.step.after_ms), d.step.change_ms(),
                                 duration_ms(d.busy.before_ms), duration_ms(d.busy.after_ms));
  if (!d.gone.empty()) line += fmt::format("; no longer found: {}", fmt::join(d.gone, ", "));
  if (!d.come.empty()) line += fmt::format("; found only after: {}", fmt::join(d.come, ", "));
  return line;
}

std::string bound_text(const trace::TraceFinding& finding, const Summary& summary) {
  const double step = summary.step_ms();
  return fmt::format("at most {} of a step ({})", duration_ms(finding.bound_ms),
                     percent(step > 0 ? finding.bound_ms / step : 0));
}

std::string compare_command(const Summary& summary) {
  return fmt::format("rung advise NEW_TRACE --against {}", summary.file);
}

std::string evidence_text(const trace::Evidence& evidence) {
  return fmt::format("{} × {}, {}", count(evidence.count), evidence.event, duration_ms(evidence.ms));
}

}  // namespace rung::report
