// Applies the first rule whose prefix matches.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/amd_domains.hpp"

namespace rung::trace {
namespace {

constexpr DomainRule kDomains[] = {
    {"HIP_COMPILER", {}, "calls around a launch, which the compiler writes"},
    {"HIP_", EventKind::runtime_call, {}},
    {"MARKER_CONTROL", {}, "the profiler's own work"},
    {"MARKER_NAME", {}, "the profiler's own work"},
    {"MARKER_", EventKind::range, {}},
    {"RCCL_", EventKind::host_op, {}},
    {"HSA_", {}, "calls of HSA: HIP's, above them, are kept", true},
};
constexpr DomainRule kOtherDomain{{}, {}, "calls of domains that are not known"};

}  // namespace

const DomainRule& rule_of_domain(std::string_view domain) {
  for (const DomainRule& rule : kDomains)
    if (domain.starts_with(rule.prefix)) return rule;
  return kOtherDomain;
}

}  // namespace rung::trace
