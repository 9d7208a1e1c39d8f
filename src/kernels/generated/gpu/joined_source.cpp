// Each source has a namespace of its own, because sources define functions of the same names.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/source.hpp"

namespace rung::gpu {

std::string joined_entry(size_t i) { return fmt::format("{}_{}", kGeneratedEntry, i); }

// The header's first inclusion must be outside of all namespaces; `#pragma once` makes the sources' own empty.
std::string joined_source(std::span<const std::string> sources) {
  std::string text = "#include \"generated.cuh\"\n";
  for (size_t i = 0; i < sources.size(); ++i)
    text += fmt::format("namespace n{0} {{\n#define {1} {2}\n{3}\n#undef {1}\n}}\n", i, kGeneratedEntry,
                        joined_entry(i), sources[i]);
  return text;
}

}  // namespace rung::gpu
