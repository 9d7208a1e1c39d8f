// Finds a module, or tells which modules there are. cmake/gpu_modules.cmake makes the table itself.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/modules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rung::gpu {

std::string architecture_name(int architecture) {
  if (architecture == 0) return "of an unknown architecture";
  return vendor_of(architecture) == Vendor::amd ? fmt::format("gfx{:x}", architecture)
                                                : fmt::format("sm_{}", architecture);
}

const void* embedded_module(std::string_view name, int architecture) {
  const int wanted = vendor_of(architecture) == Vendor::amd ? architecture : 0;
  const auto modules = embedded_modules();
  const auto found = std::find_if(modules.begin(), modules.end(), [&](const EmbeddedModule& module) {
    return module.name == name && module.architecture == wanted;
  });
  return found == modules.end() ? nullptr : found->begin;
}

std::string architectures_of_this_build() {
  std::string names;
  for (const CompiledFor& one : compiled_architectures())
    if (missing_modules_reason(one.vendor).empty()) names.append(names.empty() ? "" : ", ").append(one.name);
  return names;
}

Verdict has_kernels_for(int architecture) {
  const Vendor vendor = vendor_of(architecture);
  const std::string_view missing = missing_modules_reason(vendor);
  for (const CompiledFor& one : compiled_architectures())
    if (missing.empty() && one.vendor == vendor && one.first <= architecture && architecture <= one.last)
      return accept();
  const std::string names = architectures_of_this_build(), why = missing.empty() ? "" : fmt::format(" ({})", missing);
  if (names.empty()) return reject("this build has no GPU kernels" + why);
  return reject(fmt::format("the GPU kernels of this build are for {}{}", names, why));
}

}  // namespace rung::gpu
