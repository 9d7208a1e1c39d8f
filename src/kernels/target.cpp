// Row look-up, and the target of this process's processor.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/target.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/cpu/kernel.hpp"

namespace rung {

// Rows of one family stand together.
std::span<const Kernel* const> Target::kernels_for(std::string_view family) const {
  auto of_family = [&](const Kernel* row) { return row->op == family; };
  auto first = std::find_if(kernels.begin(), kernels.end(), of_family);
  return {first, std::find_if_not(first, kernels.end(), of_family)};
}

const Kernel* Target::kernel_named(std::string_view name) const {
  auto it = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel* row) { return row->name == name; });
  return it == kernels.end() ? nullptr : *it;
}

const Kernel* Target::library_row(std::string_view family) const {
  if (family != "linear" && family != "matmul") return nullptr;
  return kernel_named(fmt::format("{}_{}", family, kind == "cpu" ? "onednn" : "cublaslt"));
}

const Target& cpu_target() {
  static const Target target = [] {
    const auto& info = cpu::cpu_info();
    return Target{.kind = "cpu",
                  .fingerprint = fmt::format("cpu {} [{}]", info.name, info.isa_text()),
                  .machine = info,
                  .kernels = cpu::all_kernels()};
  }();
  return target;
}

}  // namespace rung
