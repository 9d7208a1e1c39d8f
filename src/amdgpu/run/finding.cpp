// Writes a finding as one line of text.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/finding.hpp"

#include <fmt/format.h>

namespace rung::amdgpu {

std::string Finding::text() const {
  std::string where =
      fmt::format("{} in {} at +{:#x} '{}', group ({}, {}, {}), wave {}", kFindingWords[static_cast<size_t>(kind)],
                  kernel, offset, instruction, group[0], group[1], group[2], wave);
  if (lane >= 0) where += fmt::format(", lane {}", lane);
  return detail.empty() ? where : where + ": " + detail;
}

std::string text_of(const std::vector<Finding>& findings) {
  std::string all;
  for (const Finding& finding : findings) all += (all.empty() ? "" : "; then ") + finding.text();
  return all;
}

}  // namespace rung::amdgpu
