// Builds the rows of the ladder that every form of the report shows.
// SPDX-License-Identifier: Apache-2.0
#include "report/ladder_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "passes/pass.hpp"
#include "report/format.hpp"
#include "report/load_lines.hpp"
#include "report/precision_words.hpp"
#include "report/speedup_lines.hpp"

namespace rung::report {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

LadderRow baseline_row(const ClimbResult& result) {
  Receipt receipt{.name = "baseline", .accepted = true, .reason = "as the model's author wrote it"};
  receipt.before_ms = receipt.ms = result.baseline_ms;
  receipt.kernels = result.kernels_before;
  receipt.rel_l2 = receipt.max_abs = kUnknown;
  return {receipt, true, "baseline", "baseline"};
}

std::string verdict_on(const Receipt& receipt) {
  if (receipt.name == "baseline") return "baseline";
  if (receipt.name == kCanonicalRung) return "always";
  return receipt.accepted ? "kept" : "rejected";
}

LadderRow row_of(const Receipt& receipt) {
  std::string name = printable(receipt.name) + (receipt.attempt > 1 ? " (again)" : "");
  return {receipt, receipt.name == "baseline", name, verdict_on(receipt)};
}

std::string verify_line(const ClimbResult& result) {
  std::string why = result.verify_reason.empty() ? "" : ": " + printable(result.verify_reason);
  if (!result.verified) return "NOT VERIFIED" + why;
  return fmt::format("verified: rel. L2 error {}, largest error {}, cosine {}{}", scientific(result.rel_l2),
                     scientific(result.max_abs), fixed(result.cosine, 7), result.piecewise ? why : "");
}

}  // namespace

std::vector<LadderRow> ladder_rows(const ClimbResult& result) {
  std::vector<LadderRow> rows;
  if (result.rungs.empty() || result.rungs.front().name != "baseline") rows.push_back(baseline_row(result));
  for (const Receipt& receipt : result.rungs) rows.push_back(row_of(receipt));
  return rows;
}

StageTime whole_run(const ClimbResult& result) {
  return {"whole run", result.kernels_after, result.final_ms * 1e3, result.floor_ms * 1e3};
}

double time_left(double time, double floor) { return std::max(0.0, time - floor); }

double floor_reached(double time, double floor) { return time > 0 && floor > 0 ? floor / time : kUnknown; }

std::vector<std::string> headlines(const ClimbResult& result) {
  std::vector<std::string> lines{baseline_line(result), no_climb_line(result)};
  if (result.floor_ms > 0) {
    lines.push_back(fmt::format("this machine's floor is {}: {} left",
                                duration_ms(result.floor_ms, clock_of(result.device)),
                                duration_ms(time_left(result.final_ms, result.floor_ms), clock_of(result.device))));
  }
  if (result.text_before > 0)
    lines.push_back(fmt::format("timed and verified behind {} tokens of a text", count(result.text_before)));
  lines.push_back(verify_line(result));
  lines.push_back(disturbance_line(result.disturbance));
  lines.push_back(overrun_line(result));
  lines.push_back(printable(result.budget_note));
  for (std::string& line : load_lines(result.loads, clock_of(result.device))) lines.push_back(std::move(line));
  lines.push_back(cheaper_line(result));
  lines.push_back(precision_line(result));
  std::erase(lines, "");
  return lines;
}

}  // namespace rung::report
