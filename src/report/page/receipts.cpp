// Receipts: the effect of each rung, in words and numbers, for readers who want to check.
// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"
#include "report/intervals.hpp"
#include "report/ladder_rows.hpp"
#include "report/page/sections.hpp"

namespace rung::report {
namespace {

constexpr size_t kMostNotes = 60;  // per rung; report.json holds them all

Html notes(const std::vector<std::string>& list) {
  if (list.empty()) return {"<p class='none'>No notes: its passes had nothing to say.</p>"};
  Html out{"<ul class='notes'>"};
  for (size_t i = 0; i < list.size() && i < kMostNotes; ++i) out += html("<li>{}</li>", list[i]);
  if (list.size() > kMostNotes)
    out +=
        html("<li class='none'>and {} more, in report.json</li>", count(static_cast<long>(list.size() - kMostNotes)));
  return out + Html{"</ul>"};
}

Html receipt(const LadderRow& row, Clock clock) {
  const Receipt& r = row.receipt;
  const char* css = row.baseline ? "baseline" : r.accepted ? "kept" : "rejected";
  Html summary = html("<b>{}</b> <span class='tag'>{}</span>", row.name, row.verdict);
  if (!row.baseline)
    summary += html(" <span class='sum'>{} → {}, {} × [{}]</span>", duration_ms(r.before_ms, clock),
                    duration_ms(r.ms, clock), ratio(r.ratio), interval_text(r.ci95));
  Html numbers = html("<p>{}. {}; relative L2 error {}, largest error {}.</p>", r.reason,
                      counted(r.kernels, "launch", "launches"), scientific(r.rel_l2), scientific(r.max_abs));
  return html("<details class='{}'><summary>{}</summary>{}{}</details>\n", css, summary, numbers, notes(r.notes));
}

}  // namespace

Html receipts(const ClimbResult& result) {
  return section(
      "receipts", "Receipts",
      "One per rung: the measured effect with its interval, the numeric error of the plan with the rung on, and what "
      "its passes did or why they did not.",
      each(ladder_rows(result), [&](const LadderRow& row) {
        return was_tried(row.receipt) ? receipt(row, clock_of(result.device)) : Html{};
      }));
}

}  // namespace rung::report
