// The choice of a kernel row for a problem, with the tuner's parameters for the row.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace rung {

// The tuner's parameters by name; an absent parameter has the kernel's default.
using Params = std::map<std::string, int64_t, std::less<>>;

struct KernelChoice {
  std::string kernel;  // empty: none
  Params params;
  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;
};

}  // namespace rung
