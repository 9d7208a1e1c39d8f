// A recording's summary and findings as one HTML page.
// SPDX-License-Identifier: Apache-2.0
#include "report/advice/advice.hpp"
#include "report/advice/tables.hpp"
#include "report/advice/timeline.hpp"
#include "report/format.hpp"
#include "report/page/sections.hpp"

namespace rung {
namespace {

using namespace report;

Html head_of(const advise::Summary& summary) {
  const std::string setting = summary.format + (summary.device.empty() ? "" : " · " + summary.device);
  return html(
      "<header><p class='brand'>rung</p><h1>{}</h1><p class='setting'>{}</p>\n"
      "<p class='result'><span class='now'>{}</span><span class='unit'> a step</span></p>"
      "<p class='verdict'>{}</p><p class='caption'>{}</p></header>\n",
      summary.file, printable(setting), duration_ms(summary.step_ms), step_line(summary), skipped_line(summary));
}

Html cells(const std::vector<std::string>& row) {
  Html out = html("<th scope='row' class='name'>{}</th>", shorten(printable(row.front()), 160));
  for (size_t i = 1; i < row.size(); ++i) out += html("<td class='number'>{}</td>", row[i]);
  return out;
}

Html table_html(const TextTable& table) {
  Html head = html("<th scope='col' class='name'>{}</th>", table.head.front());
  for (size_t i = 1; i < table.head.size(); ++i) head += html("<th scope='col' class='number'>{}</th>", table.head[i]);
  return html(
      "<h3>{}</h3><div class='scroll'><table "
      "class='compact'><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
      table.title, head, each(table.rows, [](const auto& row) { return html("<tr>{}</tr>", cells(row)); }));
}

Html finding_html(const advise::Advice& advice, const advise::Summary& summary) {
  const auto item = [](std::string_view name, std::string_view what) {
    return what.empty() ? Html{} : html("<li><b>{}</b>: {}</li>", name, what);
  };
  return html(
      "<details open><summary><b>{}</b>: {}<span class='sum'>{}</span></summary><p>{}</p><ul class='notes'>{}</ul>"
      "<p>{}</p><ul class='notes'>{}{}{}</ul></details>\n",
      advice.id, advice.title, bound_text(advice, summary), advice.bound_from,
      each(advice.evidence,
           [](const auto& e) { return html("<li>{}</li>", shorten(printable(evidence_text(e)), 200)); }),
      advice.remedy, each(advice.changes, [&](const auto& c) { return item(c.stack, c.what); }),
      item("traps", advice.traps), item("confirm", advice.confirm));
}

Html findings_of(const advise::Summary& summary) {
  if (summary.findings.empty()) return html("<p class='none'>Nothing found that costs latency.</p>\n");
  return each(summary.findings, [&](const auto& advice) { return finding_html(advice, summary); });
}

Html tables_html(const std::vector<TextTable>& tables) {
  return each(tables, [](const TextTable& table) { return table_html(table); });
}

}  // namespace

std::string advice_html(const advise::Summary& summary, const advise::Difference* against) {
  Html body = head_of(summary) + timeline(summary);
  body += section("findings", "What costs latency",
                  "Sorted by the most that each remedy can take off a step. Bounds overlap: they do not add up.",
                  findings_of(summary));
  body += section("figures", "Where the time goes", "Of a step: sums over all steps divided by their number.",
                  tables_html(tables_of(summary)));
  if (against)
    body += section("difference", "Before and after", difference_line(*against), tables_html(tables_of(*against)));
  return whole_page(summary.file, hatch_pattern() + body);
}

}  // namespace rung
