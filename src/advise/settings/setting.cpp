// The settings table and what is chosen from it.
// SPDX-License-Identifier: Apache-2.0
#include "advise/settings/setting.hpp"

#include <algorithm>

namespace rung::advise {
namespace {

#define RUNG_SOURCE(id, reader, document) [[maybe_unused]] constexpr Source id{reader, document};
namespace setting_sources {
#include "advise/knobs/sources.inc"
#include "advise/settings/sources.inc"
}  // namespace setting_sources
#undef RUNG_SOURCE

// What to measure, in words that several rows share.
namespace measures {
constexpr std::string_view
    step = "the median time of a step without a profiler, with and without it in turns",
    first = "the time from start to the first answer, and the first ten steps",
    tail = "p99 of the step's time over a thousand steps, and the median",
    collectives = "the step's time on all GPUs, and the time of its collectives in a trace (`rung advise`)",
    request = "`vllm bench latency --batch-size 1` with your lengths of prompt and answer",
    tokens = "time to the first token and between tokens (`vllm bench serve` at your rate)",
    quality = "time between tokens, and your own quality metric: values change";
}  // namespace measures

// A variable's source is its knob's.
const Source* source_of_variable(std::string_view name) {
  const Knob* knob = find_knob(name);
  return knob ? knob->source : nullptr;
}

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> table = [] {
    std::vector<Setting> rows{
#define RUNG_VARIABLE(stack, gpus, verdict, name, value, when, measure, reason, traps) \
  {Stack::stack,                                                                       \
   GpuFamily::gpus,                                                                    \
   SettingKind::variable,                                                              \
   Verdict::verdict,                                                                   \
   #name,                                                                              \
   value,                                                                              \
   when,                                                                               \
   reason,                                                                             \
   measures::measure,                                                                  \
   traps,                                                                              \
   nullptr},
#define RUNG_SETTING(stack, gpus, kind, verdict, name, value, when, measure, reason, traps, source)          \
  {Stack::stack,      GpuFamily::gpus, SettingKind::kind,       Verdict::verdict, name, value, when, reason, \
   measures::measure, traps,           &setting_sources::source},
#include "advise/settings/pytorch.inc"
#include "advise/settings/rung.inc"
#include "advise/settings/vllm.inc"
#undef RUNG_SETTING
#undef RUNG_VARIABLE
    };
    for (Setting& row : rows)
      if (row.kind == SettingKind::variable) row.source = source_of_variable(row.name);
    return rows;
  }();
  return table;
}

}  // namespace

bool is_of(GpuFamily family, const GpuTraits& gpu) {
  switch (family) {
    case GpuFamily::any:
      return true;
    case GpuFamily::nvidia:
      return !gpu.amd;
    case GpuFamily::amd:
      return gpu.amd;
    case GpuFamily::mi300:
      return gpu.amd && !gpu.mi350;
    case GpuFamily::mi350:
      return gpu.amd && gpu.mi350;
  }
  return false;
}

std::span<const Setting> setting_table() { return all_settings(); }

std::vector<const Setting*> settings_for(Stack stack, const GpuTraits& gpu) {
  std::vector<const Setting*> chosen;
  for (const Setting& row : setting_table())
    if (row.stack == stack && is_of(row.gpus, gpu)) chosen.push_back(&row);
  std::stable_partition(chosen.begin(), chosen.end(), [](const Setting* row) { return row->verdict == Verdict::set; });
  return chosen;
}

}  // namespace rung::advise
