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

Html head_of(const trace::Summary& summary) {
  const std::string setting = summary.format + (summary.device.empty() ? "" : " · " + summary.device);
  Html head =
      html("<header><p class='brand'>rung</p><h1>{}</h1><p class='setting'>{}</p>\n", summary.file, printable(setting));
  if (!has_no_work(summary))
    head += html("<p class='result'><span class='now'>{}</span><span class='unit'> a step</span></p>",
                 duration_ms(summary.step_ms()));
  const std::vector<std::string> lines = lines_of(summary);
  for (const std::string& line : lines)
    head += html("<p class='{}'>{}</p>", !summary.is_complete() && &line == &lines.front() ? "verdict bad" : "caption",
                 printable(line));
  return head + html("</header>\n");
}

Html changes_html(const trace::TraceFinding& finding) {
  return each(finding.changes, [](const trace::Change& c) {
    return html("<p><b>{}</b></p>{}", c.stack, command_block(printable(c.what)));
  });
}

Html first_of(const trace::Summary& summary) {
  if (summary.findings.empty()) return {};
  const trace::TraceFinding& first = summary.findings.front();
  Html content =
      html("<p class='first'><b>{}</b></p><p>{}: {}.</p>", first.remedy, first.title, bound_text(first, summary));
  content += changes_html(first);
  content += html("<p>Then record again, and compare:</p>{}", command_block(printable(compare_command(summary))));
  return section("first", "Do this first", "What can take most off a step, as far as this recording tells.", content);
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
      "<h3>{}</h3><div class='scroll' tabindex='0'><table "
      "class='compact'><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
      table.title, head, each(table.rows, [](const auto& row) { return html("<tr>{}</tr>", cells(row)); }));
}

Html finding_html(const trace::TraceFinding& finding, const trace::Summary& summary) {
  const auto item = [](std::string_view name, std::string_view what) {
    return what.empty() ? Html{} : html("<li><b>{}</b>: {}</li>", name, what);
  };
  Html out = html(
      "<details open class='finding'><summary>{}<span class='sum'>{} · {}</span></summary>"
      "<p>How the bound comes about: {}.</p><ul class='notes'>{}</ul><p><b>{}</b></p>\n",
      finding.title, bound_text(finding, summary), finding.id, finding.bound_from,
      each(finding.evidence,
           [](const auto& e) { return html("<li>{}</li>", shorten(printable(evidence_text(e)), 200)); }),
      finding.remedy);
  out += changes_html(finding);
  return out + html("<ul class='notes'>{}{}</ul></details>\n", item("traps", finding.traps),
                    item("confirm", finding.confirm));
}

Html findings_of(const trace::Summary& summary) {
  if (summary.findings.empty()) return html("<p class='none'>{}</p>\n", nothing_found(summary));
  return each(summary.findings, [&](const auto& finding) { return finding_html(finding, summary); });
}

// The script adds keyboard navigation only; without it the page has the same content.
constexpr std::string_view kScript = R"js(<script>
'use strict';
addEventListener('DOMContentLoaded', () => {
  const heads = [...document.querySelectorAll('.finding > summary')];
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = heads.findIndex(head => head.parentNode.contains(document.activeElement));
    const go = to => { heads[to]?.focus(); heads[to]?.scrollIntoView({block: 'nearest'}); };
    if (event.key === 'j') go(Math.min(at + 1, heads.length - 1));
    if (event.key === 'k') go(Math.max(at - 1, 0));
    if (event.key === 'o' && at >= 0) heads[at].parentNode.open = !heads[at].parentNode.open;
    if (event.key === 'c') {
      const pre = document.activeElement.closest?.('pre.command') ?? (at < 0 ? document : heads[at].parentNode)
          .querySelector('pre.command');
      pre?.querySelector('button')?.click();
    }
  });
});
</script>
)js";

Html tables_html(const std::vector<TextTable>& tables) {
  return each(tables, [](const TextTable& table) { return table_html(table); });
}

}  // namespace

std::string advice_html(const trace::Summary& summary, const trace::Difference* against) {
  Html body = first_of(summary) + timeline(summary);
  if (!has_no_work(summary)) {
    body +=
        section("findings", "What costs latency",
                "Sorted by the most that each remedy can take off a step. Bounds overlap: they do not add up. Keys: j "
                "and k go from one to the next, o folds it, c copies its first command.",
                findings_of(summary));
    body += section("figures", "Where the time goes", "Of the step whose length is the median.",
                    tables_html(tables_of(summary)));
  }
  if (against)
    body += section("difference", "Before and after", difference_line(*against), tables_html(tables_of(*against)));
  return whole_page(summary.file,
                    hatch_pattern() + head_of(summary) + contents(body) + body + Html{std::string(kScript)});
}

}  // namespace rung
