// The head of the page: the times before and after, the distance to the floor, and whether the plan is verified.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/format.hpp"
#include "report/ladder_rows.hpp"
#include "report/load_lines.hpp"
#include "report/page/sections.hpp"
#include "report/precision_words.hpp"
#include "report/speedup_lines.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

Html number_with_unit(const std::string& text) {
  size_t space = text.find(' ');
  if (space == std::string::npos) return html("{}", text);
  return html("{}<span class='unit'> {}</span>", text.substr(0, space), text.substr(space + 1));
}

Html result_line(const ClimbResult& r) {
  const Speedup& claim = r.against_baseline;
  Html out =
      html("<p class='result'><span class='was'>{}</span><span class='arrow'> → </span><span class='now'>{}</span>",
           number_with_unit(duration_ms(r.baseline_ms, clock_of(r.device))),
           number_with_unit(duration_ms(r.final_ms, clock_of(r.device))));
  if (claim.is_faster() || claim.is_slower())
    out += html("<span class='speedup {}'>{}</span> <span class='proof'>{}</span>", claim.is_faster() ? "good" : "bad",
                factor_text(claim), interval_text(claim));
  else
    out += html("<span class='proof'>{}</span>", claim_text(claim));
  return out + Html{"</p>\n"};
}

Html paragraph(const std::string& line) { return line.empty() ? Html{} : html("<p class='claim'>{}</p>\n", line); }

// The baseline takes the whole width; the solid part of the final plan's bar is the floor.
Html floor_strip(const ClimbResult& r) {
  if (!(r.floor_ms > 0) || !(r.final_ms > 0)) return {};
  Scale x{0, std::max(r.baseline_ms, r.final_ms)};
  Strip strip(22);
  strip.bar(0, 100, "track").bar(0, x(r.final_ms), "left").bar(0, x(std::min(r.floor_ms, r.final_ms)), "gain");
  std::string left = duration_ms(std::max(0.0, r.final_ms - r.floor_ms), clock_of(r.device));
  return html(
      "{}<p class='caption'><span class='key gain'></span>this machine’s floor {} <span class='key left'></span>time "
      "left {} "
      "<span class='key track'></span>taken off. The plan runs at <b>{}</b> of the speed that the measured peaks "
      "allow.</p>\n",
      strip.finish("bar of baseline, final and floor times"), duration_ms(r.floor_ms, clock_of(r.device)), left,
      percent(floor_reached(r.final_ms, r.floor_ms)));
}

Html verdict(const ClimbResult& r) {
  if (!r.verified) {
    std::string reason = r.verify_reason.empty() ? "no reason was given" : r.verify_reason;
    return html("<p class='verdict bad'><b>✗ Not verified.</b> {}</p>\n", reason);
  }
  return html(
      "<p class='verdict good'><b>✓ Verified</b> against the reference: relative L2 error {}, largest error {}, cosine "
      "{}{}</p>\n",
      scientific(r.rel_l2), scientific(r.max_abs), fixed(r.cosine, 8), r.piecewise ? "; " + r.verify_reason : "");
}

Html fact(std::string_view name, const std::string& value) {
  return html("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
}

// A throttled clock makes every figure of the page larger than the machine's best.
Html throttling(const ClimbResult& r) {
  Html out;
  for (const LoadedRuns& runs : r.loads)
    if (!runs.load.throttled.empty())
      out += html("<p class='verdict bad'><b>✗ Throttled {}:</b> {}</p>\n", cadence_name(runs.rate_hz),
                  describe_throttling(runs.load));
  return out;
}

// Other users of the machine also make every figure larger.
Html disturbed(const ClimbResult& r) {
  const std::string text = r.disturbance.text();
  return text.empty() ? Html{} : html("<p class='verdict bad'><b>✗ Disturbed:</b> {}</p>\n", text);
}

Html facts(const ClimbResult& r) {
  Html out{"<dl class='facts'>"};
  out += fact("launches", count(r.kernels_before) + " → " + count(r.kernels_after));
  if (r.final_latency.runs > 0) out += fact("p99 latency", duration_ms(r.final_latency.p99_ms, clock_of(r.device)));
  if (r.cold.runs > 0) out += fact("with cold weights", duration_ms(r.cold.median_ms, clock_of(r.device)));
  for (const LoadedRuns& runs : r.loads) {
    std::string cadence = cadence_name(runs.rate_hz);
    if (runs.rate_hz > 0) out += fact(cadence, duration_ms(runs.latency.median_ms, clock_of(r.device)));
    if (runs.load.energy_mj > 0)
      out += fact("energy per run, " + cadence, significant(runs.load.energy_mj * 1e-3) + " J");
  }
  if (r.weights_mb > 0) out += fact("weights", megabytes(r.weights_mb));
  const std::string of = r.total_s > r.budget_s && r.budget_s > 0 ? " of " + duration_ms(r.budget_s * 1e3) : "";
  if (r.total_s > 0) out += fact("climb took", duration_ms(r.total_s * 1e3) + of);
  return out + Html{"</dl>\n"};
}

}  // namespace

Html headline(const ClimbResult& r) {
  std::string threads;  // 0: a GPU
  if (r.threads > 0) threads = " · " + count(r.threads) + (r.threads == 1 ? " thread" : " threads");
  std::string setting = printable(r.device) + " · " + printable(r.dtype) + threads;
  if (!r.architecture.empty()) setting = printable(r.architecture) + " · " + setting;
  return html("<header><p class='brand'>rung</p><h1>{}</h1><p class='setting'>{}</p><p class='shapes'>{}</p>\n",
              r.model, setting, r.shapes) +
         result_line(r) + paragraph(no_climb_line(r)) + floor_strip(r) + verdict(r) + paragraph(cheaper_line(r)) +
         paragraph(precision_line(r)) + paragraph(overrun_line(r)) + paragraph(r.budget_note) + throttling(r) +
         disturbed(r) + facts(r) + Html{"</header>\n"};
}

}  // namespace rung::report
