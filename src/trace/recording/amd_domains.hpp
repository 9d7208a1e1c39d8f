// Maps domains of host events in AMD's tracers to kinds of events.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

#include "trace/recording/recording.hpp"

namespace rung::trace {

struct DomainRule {
  std::string_view prefix;
  std::optional<EventKind> kind;  // none: left out
  std::string_view left_out_as;
  bool of_hsa = false;  // lies within HIP's calls
};

// Returns the rule of a domain, a word such as "HIP_RUNTIME_API_EXT"; rocprofv2's is "HIP_API_DOMAIN".
const DomainRule& rule_of_domain(std::string_view domain);

}  // namespace rung::trace
