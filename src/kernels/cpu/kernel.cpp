// The table of all CPU kernels, made from the rows of kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kernel.hpp"

#include <algorithm>

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

std::vector<const Kernel*> rows_and_fallbacks() {
  std::vector<const Kernel*> all;
  for (std::string_view op : computed_ops()) {
    std::ranges::copy_if(kRows, std::back_inserter(all), [&](const Kernel* row) { return row->op == op; });
    all.push_back(fallback_of(op));
  }
  return all;
}

}  // namespace

std::span<const Kernel* const> all_kernels() {
  static const std::vector<const Kernel*> kAll = rows_and_fallbacks();
  return kAll;
}

}  // namespace rung::cpu
