// Reads RUNG_CPU_ISA.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/isa_cap.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace rung::cpu {

Result<size_t> isa_cap() {
  const char* wanted = std::getenv("RUNG_CPU_ISA");
  if (!wanted || !*wanted) return std::size(kIsaLevels) - 1;
  const auto level = static_cast<size_t>(std::ranges::find(kIsaLevels, wanted) - std::begin(kIsaLevels));
  if (level < std::size(kIsaLevels)) return level;
  return wrong_usage("RUNG_CPU_ISA: got '{}', wanted one of: {}", wanted, fmt::join(kIsaLevels, ", "));
}

}  // namespace rung::cpu
