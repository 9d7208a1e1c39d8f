// The table of all CPU kernels, made from the rows of kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kernel.hpp"

#include <algorithm>

#include "device/cpu/pair_rate.hpp"

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

// Puts an op's row of bf16 pairs behind the row of floats for the same instructions.
void put_pairs_last(std::span<const Kernel*> rows) {
  const auto ends_with = [](std::string_view end) {
    return [end](const Kernel* row) { return row->name.ends_with(end); };
  };
  const auto pairs = std::ranges::find_if(rows, ends_with("_avx512_bf16"));
  const auto floats = std::ranges::find_if(pairs, rows.end(), ends_with("_avx512"));
  if (floats != rows.end()) std::rotate(pairs, pairs + 1, floats + 1);
}

std::vector<const Kernel*> rows_and_fallbacks() {
  std::vector<const Kernel*> all;
  for (std::string_view op : computed_ops()) {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    std::ranges::copy_if(kRows, std::back_inserter(all), [&](const Kernel* row) { return row->op == op; });
    if (!gains_by_pairs()) put_pairs_last(std::span(all).subspan(first));
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
