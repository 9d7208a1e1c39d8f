// The doctor: facts of a machine, and the settings and variables that cost latency. It changes nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <utility>

#include "doctor/finding.hpp"
#include "doctor/snapshot.hpp"

namespace rung::doctor {

struct Diagnosis {
  std::vector<std::pair<std::string, std::string>> facts;  // name, value
  size_t variables = 0;                                    // set variables of these stacks
  Findings findings;                                       // problems first
  std::vector<std::string_view> unknown;                   // checks that are told too little: unknown_checks()
};

Diagnosis diagnose(const Snapshot& machine);

nlohmann::json to_json(const Diagnosis& diagnosis);

}  // namespace rung::doctor
