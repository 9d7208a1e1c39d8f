// Compilers that turn the source of a kernel into machine code while the program runs. None is linked: each is opened,
// or started, where it is installed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "device/gpu/gpu_info.hpp"

namespace rung::gpu {

// A file that sources include by its name.
struct SourceHeader {
  const char* name;
  std::string_view text;
};

// Returns the headers of generated kernels: "generated.cuh", and what it includes.
std::span<const SourceHeader> generated_headers();

struct Compiler {
  std::string_view name;                     // "NVRTC"
  bool (*compiles_for)(const GpuInfo& gpu);  // whether the GPU is of a kind for which it makes code
  Result<std::string> (*version)();          // which may start it. Errors: it is not here
  Result<std::string> (*compile)(const std::string& source, int architecture);  // Errors: with its own first words
};

extern const Compiler nvrtc, hiprtc, amd_clang;

// Returns the first compiler for the GPU that is here. Errors: none is; the text says why not, for each of its kind.
Result<const Compiler*> compiler_for(const GpuInfo& gpu);

// Returns the first lines of what a compiler said.
std::string first_words(std::string_view said);

}  // namespace rung::gpu
