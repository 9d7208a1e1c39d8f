// Names each kind of count once.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/counts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "amdgpu/isa/decode.hpp"

namespace rung::tasks {
namespace {

using amdgpu::Counts;

struct Named {
  const char* name;
  uint64_t Counts::*count;
};
constexpr Named kClasses[] = {{"vector", &Counts::vector},
                              {"scalar", &Counts::scalar},
                              {"matrix", &Counts::matrix},
                              {"branches", &Counts::branches},
                              {"waits", &Counts::waits},
                              {"barriers", &Counts::barriers},
                              {"global_loads", &Counts::global_loads},
                              {"global_stores", &Counts::global_stores},
                              {"lds_reads", &Counts::lds_reads},
                              {"lds_writes", &Counts::lds_writes},
                              {"atomics", &Counts::atomics},
                              {"scratch", &Counts::scratch}};
constexpr Named kOthers[] = {{"waves", &Counts::waves},
                             {"instructions", &Counts::instructions},
                             {"global_bytes_read", &Counts::global_bytes_read},
                             {"global_bytes_written", &Counts::global_bytes_written},
                             {"lds_bytes", &Counts::lds_bytes},
                             {"cache_lines", &Counts::cache_lines},
                             {"bank_conflict_cycles", &Counts::bank_conflict_cycles}};
constexpr const char* kWidths[] = {"1-2", "4", "8", "12", "16"};  // bytes a lane

}  // namespace

nlohmann::json to_json(const Counts& counts) {
  nlohmann::json json;
  for (const Named& each : kClasses) json[each.name] = counts.*each.count;
  for (const Named& each : kOthers) json[each.name] = counts.*each.count;
  for (size_t i = 0; i < std::size(kWidths); ++i) json["bytes_by_width"][kWidths[i]] = counts.bytes_by_width[i];
  for (const auto& [opcode, count] : counts.by_opcode) json["by_opcode"][std::string(amdgpu::name_of(opcode))] = count;
  return json;
}

std::vector<std::string> count_lines(const Counts& counts) {
  std::string classes = fmt::format("{} wave instructions of {} waves:", counts.instructions, counts.waves);
  for (const Named& each : kClasses)
    if (counts.*each.count > 0) classes += fmt::format(" {} {},", each.name, counts.*each.count);
  classes.pop_back();
  std::string widths;
  for (size_t i = 0; i < std::size(kWidths); ++i)
    if (counts.bytes_by_width[i] > 0) widths += fmt::format("; {} by {} a lane", counts.bytes_by_width[i], kWidths[i]);
  return {classes,
          fmt::format("global memory: {} bytes read, {} written{}; {} lines of 128 bytes touched",
                      counts.global_bytes_read, counts.global_bytes_written, widths, counts.cache_lines),
          fmt::format("LDS: {} bytes, {} cycles of bank conflicts", counts.lds_bytes, counts.bank_conflict_cycles)};
}

}  // namespace rung::tasks
