// The diagnosis: facts, checks of the system, audit of the environment.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnosis.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/checks.hpp"
#include "doctor/facts.hpp"
#include "doctor/knob.hpp"

namespace rung::doctor {
Diagnosis diagnose(const Snapshot& machine) {
  Diagnosis diagnosis;
  diagnosis.facts = facts_of(machine);
  for (const Check& check : system_checks()) check.find(machine, diagnosis.findings);
  for (Finding& finding : diagnosis.findings) finding.subject = machine.place_of(finding.subject);
  diagnosis.unknown = unknown_checks(machine);
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
    if (!f.rating.empty()) finding["verdict"] = f.rating;
    if (!f.source.empty()) finding["source"] = f.source;
    findings.push_back(std::move(finding));
  }
  return {{"facts", facts},
          {"knobs", knob_table().size()},
          {"variables", diagnosis.variables},
          {"findings", findings},
          {"unknown", diagnosis.unknown}};
}

}  // namespace rung::doctor
