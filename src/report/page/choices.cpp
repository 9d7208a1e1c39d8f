// The table of choices: the candidates tried for each problem, the one chosen, and why.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/params_text.hpp"
#include "report/format.hpp"
#include "report/page/sections.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

constexpr size_t kMostChoices = 120, kMostCandidates = 24;  // report.json holds them all

bool timed(const Candidate& c) { return std::isfinite(c.us) && c.us > 0; }

double chosen_us(const Choice& choice) {
  for (const Candidate& c : choice.candidates)
    if (c.verdict.starts_with("chosen") && timed(c)) return c.us;
  double best = 0;
  for (const Candidate& c : choice.candidates)
    if (c.choice.kernel == choice.chosen && timed(c) && (best == 0 || c.us < best)) best = c.us;
  return best;
}

double weight(const Choice& choice) { return chosen_us(choice) * choice.count; }

// Bars of candidates over three times slower than the chosen one are cut off at the edge.
Html candidate_row(const Candidate& c, double best) {
  Strip strip(18);
  bool chosen = c.verdict.starts_with("chosen");
  if (timed(c) && best > 0)
    strip.bar(0, Scale{0, best * 3}(c.us), chosen ? "gain" : c.us > best * 3 ? "rest cut" : "rest");
  const std::string params = params_text(c.choice.params);  // begins with a blank
  return html(
      "<tr class='{}'><th scope='row' class='name kernel'>{}{}</th><td class='chart wide'>{}</td><td "
      "class='number'>{}</td>"
      "<td class='verdict-text'>{}</td></tr>\n",
      timed(c) ? chosen ? "chosen" : "" : "untimed", c.choice.kernel,
      params.empty() ? Html{} : html(" <span class='params'>{}</span>", params.substr(1)), strip.decoration(),
      timed(c) ? significant(c.us) : std::string(kNone), c.verdict);
}

Html candidates(const Choice& choice, Clock clock) {
  std::vector<Candidate> list = choice.candidates;
  std::ranges::stable_sort(list, [](const Candidate& a, const Candidate& b) {
    return (timed(a) ? a.us : INFINITY) < (timed(b) ? b.us : INFINITY);
  });
  size_t more = list.size() > kMostCandidates ? list.size() - kMostCandidates : 0;
  list.resize(list.size() - more);
  double best = chosen_us(choice);
  Html rows = each(list, [&](const Candidate& c) { return candidate_row(c, best); });
  if (more > 0)
    rows +=
        html("<tr><td colspan='4' class='none'>and {} more, in report.json</td></tr>", count(static_cast<long>(more)));
  return html(
      "<div class='scroll' tabindex='0'><table class='compact'><thead><tr><th scope='col' class='name'>candidate</th>"
      "<th class='chart wide'><span class='sr'>drawn</span></th><th scope='col' class='number'>{}</th>"
      "<th scope='col'>verdict</th></tr></thead><tbody>{}</tbody></table></div>",
      us_word(clock), rows);
}

Html gain_over_default(const Choice& choice) {
  double best = chosen_us(choice);
  for (const Candidate& c : choice.candidates)
    if (c.verdict.find("default") != std::string::npos && timed(c) && best > 0)
      return c.us > best * 1.005 ? html("<span class='sum'>{} × the default’s speed</span>", significant(c.us / best))
                                 : Html{"<span class='sum'>the default</span>"};
  return {};
}

Html choice_markup(const Choice& choice, Clock clock) {
  Html summary = html("<span class='problem'>{}</span>", choice.problem);
  if (choice.count > 1) summary += html(" <span class='tag'>× {}</span>", count(choice.count));
  summary += html(" <b class='kernel'>{}</b> ", choice.chosen) + gain_over_default(choice);
  return html("<details class='choice'><summary>{}</summary><p>{}</p>{}</details>\n", summary, choice.reason,
              choice.candidates.empty() ? Html{} : candidates(choice, clock));
}

}  // namespace

Html choices(const ClimbResult& result) {
  if (result.choices.empty()) return {};
  std::vector<Choice> list = result.choices;
  std::ranges::stable_sort(list, [](const Choice& a, const Choice& b) { return weight(a) > weight(b); });
  size_t more = list.size() > kMostChoices ? list.size() - kMostChoices : 0;
  list.resize(list.size() - more);
  Html content = each(list, [&](const Choice& choice) { return choice_markup(choice, clock_of(result.device)); });
  if (more > 0) content += html("<p class='none'>and {}, in report.json</p>", counted(more, "more problem"));
  return section(
      "choices", "Kernel choices",
      "For each problem, all candidates and why they were taken or passed over, those with most time first. The "
      "library’s default is always among them.",
      content);
}

}  // namespace rung::report
