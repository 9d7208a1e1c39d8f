// A finding of the doctor: a setting that costs latency, that does nothing, or that is worth knowing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rung::doctor {

enum class Severity : uint8_t {
  problem,  // costs latency, or does not do what its setter wants
  note,     // worth knowing; may be right
};
inline constexpr std::array<std::string_view, 2> kSeverityWords{"problem", "note"};
constexpr std::string_view name_of(Severity severity) { return kSeverityWords[static_cast<size_t>(severity)]; }

struct Finding {
  std::string check;    // "environment", or a check of the system: "governor"
  std::string subject;  // a variable, or a file of the system
  std::string found;    // its value
  Severity severity = Severity::problem;
  std::string why;     // what it means for latency
  std::string fix;     // a command for a shell; empty: none
  std::string rating;  // of a variable: the table's rating
  std::string source;  // of a variable: the table's source
};
using Findings = std::vector<Finding>;

}  // namespace rung::doctor
