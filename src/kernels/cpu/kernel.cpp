// The table of all CPU kernels, made from the rows of kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {

#define RUNG_CPU_KERNEL(name) extern const Kernel name;
#include "kernels/cpu/kernels.inc"
#undef RUNG_CPU_KERNEL

namespace {

constexpr const Kernel* kRows[] = {
#define RUNG_CPU_KERNEL(name) &name,
#include "kernels/cpu/kernels.inc"
#undef RUNG_CPU_KERNEL
};

using Families = std::map<std::string_view, std::vector<const Kernel*>, std::less<>>;

const Families& families() {
  static const Families by_op = [] {
    Families map;
    for (const Kernel* row : kRows) map[row->op].push_back(row);
    return map;
  }();
  return by_op;
}

}  // namespace

std::span<const Kernel* const> kernels_for(std::string_view family) {
  auto found = families().find(family);
  if (found == families().end()) return {};
  return found->second;
}

std::span<const Kernel* const> all_kernels() { return kRows; }

const Kernel* kernel_named(std::string_view name) {
  for (const Kernel* row : kRows)
    if (row->name == name) return row;
  return nullptr;
}

}  // namespace rung::cpu
