// Reads rocminfo: the agents of the HSA runtime, processors and GPUs.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "doctor/pasted/text_form.hpp"

#include "base/trimmed.hpp"

namespace rung::doctor::pasted {
namespace {

struct Agent {
  std::string name, marketing_name, device_type;
  int64_t node = -1, compute_units = -1, simds_per_unit = -1, address = -1, chip = -1;
};

// Returns 29857 of "29857(0x74a1)".
int64_t number_before_bracket(std::string_view text) {
  return number_of(trimmed(text.substr(0, text.find('(')))).value_or(-1);
}

// Returns 90402 of "gfx942", whose stepping is hexadecimal; -1: another name.
int64_t target_of(std::string_view name) {
  if (!name.starts_with("gfx") || name.size() < 6 || name.size() > 7) return -1;
  int64_t major = 0, minor = 0, stepping = 0;
  const std::string_view end = name.substr(name.size() - 2), begin = name.substr(3, name.size() - 5);
  const auto read = [](std::string_view text, int64_t& to, int base) {
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), to, base);
    return error == std::errc{} && at == text.data() + text.size();
  };
  if (!read(begin, major, 10) || !read(end.substr(0, 1), minor, 10) || !read(end.substr(1), stepping, 16)) return -1;
  return major * 10000 + minor * 100 + stepping;
}

// Returns "c1:00.0": the text does not tell the domain.
std::string address_of(int64_t id) { return fmt::format("{:02x}:{:02x}.{}", id >> 8, (id >> 3) & 31, id & 7); }

void tell_gpu(const Agent& agent, Telling& telling) {
  const int64_t version = target_of(agent.name);
  if (agent.node < 0 || version < 0) return;
  const std::string node = fmt::format("sys/class/kfd/kfd/topology/nodes/{}/properties", agent.node);
  std::string properties = fmt::format("gfx_target_version {}\n", version);
  if (agent.compute_units > 0 && agent.simds_per_unit > 0)
    properties += fmt::format("simd_count {}\nsimd_per_cu {}\n", agent.compute_units * agent.simds_per_unit,
                              agent.simds_per_unit);
  telling.set(node, properties);
  if (agent.address < 0 || agent.address > 0xffff) return;
  const std::string folder = telling.gpu(address_of(agent.address), kAmd);
  telling.set_node(agent.node, folder);
  if (agent.chip > 0) telling.set(folder + "device", fmt::format("0x{:x}", agent.chip));
}

void tell_agent(const Agent& agent, Telling& telling) {
  if (agent.device_type == "GPU") tell_gpu(agent, telling);
  if (agent.device_type == "CPU" && !agent.marketing_name.empty())
    telling.set("proc/cpuinfo", "model name\t: " + agent.marketing_name);
}

void read_agent_line(std::string_view line, Agent& agent) {
  // Deeper lines describe an agent's caches, pools and instruction sets.
  if (!line.starts_with("  ") || line.starts_with("   ")) return;
  if (const auto value = value_behind(line, "Name")) agent.name = *value;
  if (const auto value = value_behind(line, "Marketing Name")) agent.marketing_name = *value;
  if (const auto value = value_behind(line, "Device Type")) agent.device_type = *value;
  if (const auto value = value_behind(line, "Node")) agent.node = number_before_bracket(*value);
  if (const auto value = value_behind(line, "Compute Unit")) agent.compute_units = number_before_bracket(*value);
  if (const auto value = value_behind(line, "SIMDs per CU")) agent.simds_per_unit = number_before_bracket(*value);
  if (const auto value = value_behind(line, "BDFID")) agent.address = number_before_bracket(*value);
  if (const auto value = value_behind(line, "Chip ID")) agent.chip = number_before_bracket(*value);
}

// Reads "ROCk module version 6.10.5 is loaded".
void read_module(std::string_view line, Telling& telling) {
  const auto words = words_of(line);
  if (line.starts_with("ROCk module version ") && words.size() > 3 && words[3].size() < 16)
    telling.set("sys/module/amdgpu/version", std::string(words[3]));
}

void read_agents(std::span<const Line> lines, Telling& telling) {
  Agent agent;
  for (const Line& line : lines) {
    telling.at(line);
    read_module(line.text, telling);
    if (const auto retried = value_behind(line.text, "XNACK enabled"); retried == "YES" || retried == "NO")
      telling.set("sys/module/amdgpu/parameters/noretry", retried == "YES" ? "0" : "1");
    if (trimmed(line.text).starts_with("Agent ")) {
      tell_agent(agent, telling);
      agent = Agent{};
    }
    read_agent_line(line.text, agent);
    if (line.text.find("*** Done ***") != std::string::npos) break;
  }
  tell_agent(agent, telling);
}

}  // namespace

const TextForm rocminfo_form{"rocminfo",
                             [](std::string_view line) {
                               return (line.starts_with("ROCk module ") && line.ends_with("loaded")) ||
                                      line == "HSA System Attributes";
                             },
                             read_agents};

}  // namespace rung::doctor::pasted
