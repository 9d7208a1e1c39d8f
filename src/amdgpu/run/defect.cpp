// Writes a defect as one line of text.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/defect.hpp"

#include <fmt/format.h>

namespace rung::amdgpu {

std::string Defect::text() const {
  std::string where =
      fmt::format("{} in {} at +{:#x} '{}', group ({}, {}, {}), wave {}", kDefectWords[static_cast<size_t>(kind)],
                  kernel, offset, instruction, group[0], group[1], group[2], wave);
  if (lane >= 0) where += fmt::format(", lane {}", lane);
  return detail.empty() ? where : where + ": " + detail;
}

std::string text_of(const std::vector<Defect>& defects) {
  std::string all;
  for (const Defect& defect : defects) all += (all.empty() ? "" : "; then ") + defect.text();
  return all;
}

}  // namespace rung::amdgpu
