// Facts, checks of the system, audit of the environment.
// SPDX-License-Identifier: Apache-2.0
#include "advise/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "advise/checks.hpp"
#include "advise/knob.hpp"

namespace rung::advise {
namespace {

std::vector<std::pair<std::string, std::string>> facts_of(const Snapshot& machine) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string name, std::optional<std::string> value) {
    if (value && !value->empty()) facts.emplace_back(std::move(name), std::move(*value));
  };
  auto processor = machine.read("proc/cpuinfo");
  if (processor && processor->find(": ") != processor->npos) processor->erase(0, processor->find(": ") + 2);
  add("processor", processor);
  add("NUMA nodes", machine.read("sys/devices/system/node/online"));
  add("kernel", machine.read("proc/sys/kernel/osrelease"));
  add("amdgpu driver", machine.read("sys/module/amdgpu/version"));
  add("nvidia driver", machine.read("sys/module/nvidia/version"));
  add("ROCm", machine.read("opt/rocm/.info/version"));
  for (const Gpu& gpu : gpus_of(machine)) add("GPU " + gpu.address, fmt::format("{} {}", gpu.vendor, gpu.device));
  return facts;
}

}  // namespace

Diagnosis diagnose(const Snapshot& machine) {
  Diagnosis diagnosis;
  diagnosis.facts = facts_of(machine);
  for (const Check check : system_checks()) check(machine, diagnosis.findings);
  for (const auto& [name, value] : machine.environment())
    diagnosis.variables += find_knob(name) || has_known_prefix(name) ? 1 : 0;
  std::ranges::move(audit(machine.environment()), std::back_inserter(diagnosis.findings));
  std::ranges::stable_sort(diagnosis.findings, {}, &Finding::severity);
  return diagnosis;
}

nlohmann::json to_json(const Diagnosis& diagnosis) {
  nlohmann::json facts = nlohmann::json::array(), findings = nlohmann::json::array();
  for (const auto& [name, value] : diagnosis.facts) facts.push_back({{"name", name}, {"value", value}});
  for (const Finding& f : diagnosis.findings) {
    nlohmann::json finding = {{"check", f.check}, {"subject", f.subject},
                              {"found", f.found}, {"severity", name_of(f.severity)},
                              {"why", f.why},     {"fix", f.fix}};
    if (!f.verdict.empty()) finding["verdict"] = f.verdict;
    if (!f.source.empty()) finding["source"] = f.source;
    findings.push_back(std::move(finding));
  }
  return {{"facts", facts}, {"knobs", knob_table().size()}, {"variables", diagnosis.variables}, {"findings", findings}};
}

}  // namespace rung::advise
