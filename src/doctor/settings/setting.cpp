// The settings table, and the choice of settings from it.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/settings/setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rung::doctor {
namespace {

#define RUNG_SOURCE(id, reader, document) [[maybe_unused]] constexpr Source id{reader, document};
namespace setting_sources {
#include "doctor/knobs/sources.inc"
#include "doctor/settings/sources.inc"
}  // namespace setting_sources
#undef RUNG_SOURCE

// Descriptions of measurements that several rows share.
namespace measures {
constexpr std::string_view
    step = "the median time of a step without a profiler, with and without it in turns",
    first = "the time from start to the first answer, and the first ten steps",
    tail = "p99 of the step's time over a thousand steps, and the median",
    collectives = "the step's time on all GPUs, and the time of its collectives in a trace (`rung advise`)",
    server = "`python -m sglang.bench_one_batch_server --batch-size 1` with your lengths of prompt and answer",
    server_tokens = "time to the first token and between tokens (`python -m sglang.bench_serving` at your rate)",
    request = "`vllm bench latency --batch-size 1` with your lengths of prompt and answer",
    tokens = "time to the first token and between tokens (`vllm bench serve` at your rate)",
    quality = "time between tokens, and your own quality metric: values change";
}  // namespace measures

constexpr SettingGpu kGpus[] = {
    {"h100", "NVIDIA H100", GpuGeneration::hopper},          {"h200", "NVIDIA H200", GpuGeneration::hopper},
    {"b200", "NVIDIA B200", GpuGeneration::blackwell},       {"mi210", "AMD Instinct MI210", GpuGeneration::mi200},
    {"mi250", "AMD Instinct MI250", GpuGeneration::mi200},   {"mi250x", "AMD Instinct MI250X", GpuGeneration::mi200},
    {"mi300x", "AMD Instinct MI300X", GpuGeneration::mi300}, {"mi325x", "AMD Instinct MI325X", GpuGeneration::mi300},
    {"mi350x", "AMD Instinct MI350X", GpuGeneration::mi350}, {"mi355x", "AMD Instinct MI355X", GpuGeneration::mi350},
};

// Returns a variable's source, which is its knob's.
const Source* source_of_variable(std::string_view name) {
  const Knob* knob = find_knob(name);
  return knob ? knob->source : nullptr;
}

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> table = [] {
    std::vector<Setting> rows{
#define RUNG_VARIABLE(framework, gpus, rating, name, value, when, measure, reason, traps) \
  {Framework::framework,                                                                  \
   GpuFamily::gpus,                                                                       \
   SettingKind::variable,                                                                 \
   Rating::rating,                                                                        \
   #name,                                                                                 \
   value,                                                                                 \
   when,                                                                                  \
   reason,                                                                                \
   measures::measure,                                                                     \
   traps,                                                                                 \
   nullptr},
#define RUNG_SETTING(framework, gpus, kind, rating, name, value, when, measure, reason, traps, source)        \
  {Framework::framework, GpuFamily::gpus, SettingKind::kind,       Rating::rating, name, value, when, reason, \
   measures::measure,    traps,           &setting_sources::source},
#include "doctor/settings/pytorch.inc"
#include "doctor/settings/rung.inc"
#include "doctor/settings/sglang.inc"
#include "doctor/settings/vllm.inc"
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

std::span<const SettingGpu> setting_gpus() { return kGpus; }

const SettingGpu* setting_gpu(std::string_view word) {
  const auto* found = std::ranges::find(kGpus, word, &SettingGpu::word);
  return found == std::end(kGpus) ? nullptr : found;
}

bool is_of(GpuFamily family, GpuGeneration gpu) {
  const bool amd = gpu >= GpuGeneration::mi200;
  switch (family) {
    case GpuFamily::any:
      return true;
    case GpuFamily::nvidia:
      return !amd;
    case GpuFamily::hopper:
      return gpu == GpuGeneration::hopper;
    case GpuFamily::blackwell:
      return gpu == GpuGeneration::blackwell;
    case GpuFamily::amd:
      return amd;
    case GpuFamily::mi200:
      return gpu == GpuGeneration::mi200;
    case GpuFamily::mi300:
      return gpu == GpuGeneration::mi300;
    case GpuFamily::mi350:
      return gpu == GpuGeneration::mi350;
    case GpuFamily::cdna3:
      return gpu == GpuGeneration::mi300 || gpu == GpuGeneration::mi350;
    case GpuFamily::with_f8:
      return gpu != GpuGeneration::mi200;
  }
  return false;
}

std::string read_by(const Setting& setting) {
  std::string text;
  if (setting.kind != SettingKind::variable) return text;
  for (const Reader& reader : readers_of(setting.name)) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", reader.component);
    if (!reader.since.empty()) text += fmt::format(" since {}", reader.since);
    if (!reader.until.empty()) text += fmt::format(" to {}", reader.until);
  }
  return text;
}

std::span<const Setting> setting_table() { return all_settings(); }

std::vector<const Setting*> settings_for(Framework framework, GpuGeneration gpu) {
  std::vector<const Setting*> chosen;
  for (const Setting& row : setting_table())
    if (row.framework == framework && is_of(row.gpus, gpu)) chosen.push_back(&row);
  std::stable_partition(chosen.begin(), chosen.end(), [](const Setting* row) { return row->rating == Rating::set; });
  return chosen;
}

}  // namespace rung::doctor
