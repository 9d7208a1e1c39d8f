// Writes the ladder as a Markdown page.
// SPDX-License-Identifier: Apache-2.0
#include "report/markdown.hpp"

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/intervals.hpp"
#include "report/ladder_rows.hpp"
#include "report/markdown_text.hpp"
#include "report/next_steps.hpp"
#include "report/precision_words.hpp"

namespace rung {
namespace {

using namespace report;

std::string ladder(const std::vector<LadderRow>& rows, Clock clock) {
  std::vector<double> times;
  for (const LadderRow& row : rows) times.push_back(row.receipt.ms);
  int decimals = decimals_for(times);
  std::string out = fmt::format(
      "| rung | verdict | {} | × before | 95 % interval | kernels | rel. L2 | reason |\n"
      "| :-- | :-- | --: | --: | :-: | --: | --: | :-- |\n",
      ms_word(clock));
  for (const LadderRow& row : rows) {
    const Receipt& r = row.receipt;
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", markdown_text(row.name), row.verdict,
                       fixed(r.ms, decimals), row.baseline ? "" : ratio(r.ratio),
                       row.baseline ? "" : interval_text(r.ci95), count(r.kernels), scientific(r.rel_l2),
                       markdown_text(r.reason));
  }
  return out;
}

std::string stage_table(const ClimbResult& result) {
  const Clock clock = clock_of(result.device);
  std::string out =
      "\n## Time left by stage\n\n"
      "| stage | launches | time | floor | left |\n| :-- | --: | --: | --: | --: |\n";
  auto add = [&](const StageTime& s) {
    out +=
        fmt::format("| {} | {} | {} | {} | {} |\n", markdown_text(s.name), count(s.launches), duration_us(s.us, clock),
                    duration_us(s.floor_us, clock), duration_us(time_left(s.us, s.floor_us), clock));
  };
  for (const StageTime& s : result.stages) add(s);
  add(whole_run(result));
  return out;
}

std::string ablation(const std::vector<AblationRow>& rows) {
  std::string out =
      "\n## What each rung is worth in the final plan\n\n"
      "Time of the plan without the rung / time with it.\n\n"
      "| without | × slower | 95 % interval |\n| :-- | --: | :-: |\n";
  for (const AblationRow& row : rows)
    out += fmt::format("| {} | {} | {} |\n", markdown_text(row.name), ratio(row.ratio), interval_text(row.ci95));
  return out;
}

std::string precision_table(const ClimbResult& result) {
  const PrecisionReport& search = result.precision_search;
  const Clock clock = clock_of(result.device);
  std::string out =
      "\n## Precision within the stated error\n\n"
      "| plan | time | × faster | 95 % interval | rel. L2 | cosine | verdict | recipe |\n"
      "| :-- | --: | --: | :-: | --: | --: | :-- | :-- |\n";
  for (size_t i = 0; i < search.wholes.size(); ++i) {
    const WholeReport& whole = search.wholes[i];
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", markdown_text(whole_name(search, i)),
                       duration_ms(whole.speedup.after_ms, clock), ratio(whole.speedup.ratio),
                       interval_text(whole.speedup.ci95), scientific(whole.rel_l2), fixed(whole.cosine, 6),
                       whole_verdict(whole), markdown_text(whole.recipe));
  }
  return out;
}

std::string next(const std::vector<NextStep>& steps) {
  std::string out = "\n## What next\n";
  for (const NextStep& step : steps) {
    out += fmt::format("\n**{}.** {}\n", markdown_text(step.title), markdown_text(step.why));
    for (const std::string& command : step.commands) out += fmt::format("\n```\n{}\n```\n", command);
  }
  return out;
}

}  // namespace

std::string to_markdown(const ClimbResult& result) {
  std::string out = fmt::format("# {} on {}\n\n", markdown_text(result.model), markdown_text(result.device));
  std::string threads;  // 0: a GPU
  if (result.threads > 0) threads = counted(result.threads, "thread") + ", ";
  out += fmt::format("{}, {}{}\n\n", markdown_text(result.dtype), threads, markdown_text(result.shapes));
  for (const std::string& line : headlines(result)) out += fmt::format("- {}\n", markdown_text(line));
  out += "\n## The ladder\n\n" + ladder(ladder_rows(result), clock_of(result.device));
  if (!result.stages.empty()) out += stage_table(result);
  if (!result.ablation.empty()) out += ablation(result.ablation);
  if (result.precision_search.searched()) out += precision_table(result);
  return out + next(next_steps(result));
}

}  // namespace rung
