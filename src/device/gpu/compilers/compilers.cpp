// Chooses the compiler for a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/compilers/compiler.hpp"

namespace rung::gpu {

Result<const Compiler*> compiler_for(const GpuInfo& gpu) {
  std::string reasons;
  for (const Compiler* compiler : {&nvrtc, &hiprtc, &amd_clang}) {
    if (!compiler->compiles_for(gpu)) continue;
    const auto version = compiler->version();
    if (version) return compiler;
    reasons += (reasons.empty() ? "" : "; ") + version.error().message;
  }
  if (reasons.empty()) return fail("no compiler makes code for {} while a program runs", gpu.name);
  return fail("{}", reasons);
}

std::string first_words(std::string_view said) {
  constexpr size_t kMost = 400;
  while (!said.empty() && (said.back() == '\n' || said.back() == '\0')) said.remove_suffix(1);
  return std::string(said.substr(0, kMost));
}

}  // namespace rung::gpu
