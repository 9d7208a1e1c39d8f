// The machine, its measured peaks and the memory used; and the commands to reproduce these numbers.
// SPDX-License-Identifier: Apache-2.0
#include "report/commands.hpp"
#include "report/format.hpp"
#include "report/load_lines.hpp"
#include "report/page/sections.hpp"

namespace rung::report {
namespace {

Html pair(std::string_view name, const std::string& value) {
  return html("<tr><th scope='row'>{}</th><td>{}</td></tr>", name, value);
}

Html pairs(std::string_view title, const Html& rows) {
  if (rows.text.empty()) return {};
  return html("<div><h3>{}</h3><table class='pairs'><tbody>{}</tbody></table></div>\n", title, rows);
}

Html peaks(const Peaks& p) {
  Html rows;
  auto add = [&](std::string_view name, double value, const char* unit) {
    if (value > 0) rows += pair(name, significant(value) + " " + unit);
  };
  add("multiply-adds on registers, f32", p.fma_f32_gflops, "GFLOP/s");
  add("GEMM f32", p.gemm_f32_gflops, "GFLOP/s");
  add("GEMM bf16", p.gemm_bf16_gflops, "GFLOP/s");
  add("memory, streaming read", p.read_gbps, "GB/s");
  add("thread hand-off", p.handoff_us, "µs");
  add("barrier", p.barrier_us, "µs");
  return rows;
}

Html memory_and_time(const ClimbResult& r) {
  Html rows;
  auto add = [&](std::string_view name, double value, const std::string& text) {
    if (value > 0) rows += pair(name, text);
  };
  add("weights", r.weights_mb, megabytes(r.weights_mb));
  add("activations, all in one arena", r.arena_mb, megabytes(r.arena_mb));
  add("peak memory of the process", r.peak_rss_mb, megabytes(r.peak_rss_mb));
  add("host time per run, outside kernels", r.host_us, duration_us(r.host_us));
  add("tuning", r.tuning_s, duration_ms(r.tuning_s * 1e3));
  add("climb in all", r.total_s, duration_ms(r.total_s * 1e3));
  return rows;
}

Html loads(const std::vector<LoadedRuns>& loads) {
  Html rows;
  for (const LoadedRuns& runs : loads) rows += pair(cadence_name(runs.rate_hz), load_text(runs.load));
  return rows;
}

}  // namespace

Html machine(const ClimbResult& r) {
  Html environment;
  for (const auto& [name, value] : r.environment) environment += pair(name, value);
  Html content = pairs("Measured peaks", peaks(r.peaks)) + pairs("Memory and time", memory_and_time(r)) +
                 pairs("Clocks and power", loads(r.loads)) + pairs("Environment", environment);
  if (content.text.empty()) return {};
  return section(
      "machine", "The machine",
      "Floors come from these peaks, not from a data sheet: the best that were seen on this machine, just before the "
      "climb or by an earlier run.",
      html("<div class='columns'>{}</div>\n", content));
}

Html reproduce(const ClimbResult& r) {
  const std::string rebuilt = subject_words(r) + recipe_words(r);
  const Html commands = each(std::vector<std::string>{climb_command(r), "rung bench plan.rung",
                                                      "rung verify " + rebuilt, "rung build " + rebuilt},
                             [](const std::string& command) { return command_block(command); });
  return section(
      "reproduce", "How to get these numbers again",
      "The climb itself; then the plan alone, which holds every decision and compiles nothing. report.json holds all "
      "that this page shows, and more.",
      commands);
}

}  // namespace rung::report
