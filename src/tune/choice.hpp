// Which kernel row runs a problem, and the tuner's parameters for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace rung {

struct KernelChoice {
  std::string kernel;
  std::map<std::string, int64_t, std::less<>> params;
  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;
};

}  // namespace rung
