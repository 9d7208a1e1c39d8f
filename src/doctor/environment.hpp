// Audits an environment against the knob table.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "doctor/finding.hpp"

namespace rung::doctor {

using Environment = std::map<std::string, std::string>;

Environment environment_of_this_process();
// Parses NAME=VALUE lines; empty lines are left out.
Environment parse_environment(std::string_view lines);

// Audits the variables that rows or prefixes of the table know; all others are not looked at.
Findings audit(const Environment& environment);

}  // namespace rung::doctor
