// Values of a row's tunables, the default first.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung::test {

// Of parameters that go together, by the first of them.
inline std::vector<Tunable::Values> joint_values(const std::vector<Tunable>& tunables, std::string_view first) {
  for (const Tunable& each : tunables)
    if (each.names.front() == first) return each.values;
  return {};
}
// Of a parameter that stands alone.
inline std::vector<int64_t> values_of(const std::vector<Tunable>& tunables, std::string_view name) {
  std::vector<int64_t> values;
  for (const Tunable::Values& each : joint_values(tunables, name)) values.push_back(each.front());
  return values;
}

}  // namespace rung::test
