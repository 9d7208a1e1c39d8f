// Machine code of generated kernels: compiled once for each source, kept in the process and in the user's cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/machine.hpp"
#include "kernels/generated/gpu/source.hpp"

namespace rung::gpu {

// Machine code as a device's runtime loads it. Kernels that were compiled together share one image.
struct CodeImage {
  std::string bytes;
  std::string hash;  // hex64() of them
};
using ImagePointer = std::shared_ptr<const CodeImage>;
ImagePointer image_of(std::string bytes);

struct GeneratedCode {
  std::string name;      // the same for the same source, headers, compiler and architecture
  std::string target;    // the architecture that it runs on: "sm_90", "gfx942"
  std::string compiler;  // and its version: "NVRTC 13.0"
  std::string source;
  std::string entry;  // of the image
  ImagePointer image;
};
using CodePointer = std::shared_ptr<const GeneratedCode>;

// Returns the name of the code that this build's headers and that compiler make of a source.
std::string code_name(std::string_view source, std::string_view target, std::string_view compiler);

// Returns code that was compiled on this machine, in this process or an earlier one; null: none was. Its source is the
// one asked for, byte by byte, whatever `compiler` says.
CodePointer compiled_before(std::string_view source, std::string_view target, std::string_view compiler);

// Returns the code of a source, compiled where it was not before. Errors: no compiler is here; the compiler's own.
Result<CodePointer> code_of(const std::string& source, const GpuInfo& gpu);
// Compiles what was not compiled before, several sources at a time and on several threads; code_of() then has it.
// Errors: no compiler is here; the compiler's own for the first source that it refuses.
Status compile_all(std::span<const std::string> sources, const GpuInfo& gpu);

// The number of sources that this process has had compiled.
size_t compilations();

// Returns what a launch of a row with `Kernel::source` takes as its state: Kernel::prepare() with code that is there.
std::shared_ptr<void> state_with(const Problem& problem, const Machine& machine, CodePointer code);

}  // namespace rung::gpu
