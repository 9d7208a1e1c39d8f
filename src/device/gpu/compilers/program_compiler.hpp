// The interface that NVRTC and hiprtc have in common, in functions that differ in their first word.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "device/gpu/compilers/compiler.hpp"
#include "device/shared_library.hpp"

namespace rung::gpu {

struct ProgramCompiler {
  using Program = void*;
  std::string name;  // "NVRTC 13.0"
  const char* (*error_text)(int code);
  int (*version)(int* major, int* minor);
  int (*create)(Program* program, const char* source, const char* file, int headers, const char* const* texts,
                const char* const* names);
  int (*compile)(Program program, int count, const char* const* options);
  int (*log_bytes)(Program program, size_t* bytes);
  int (*log)(Program program, char* text);
  int (*code_bytes)(Program program, size_t* bytes);
  int (*code)(Program program, char* code);
  int (*destroy)(Program* program);
};

// Opens the first of the libraries that is here and finds its functions; `prefix` is "nvrtc" or "hiprtc", `code` the
// word of its machine code, "CUBIN" or "Code". Errors: no library; it lacks a function.
struct ProgramLibrary {
  const char *word, *prefix, *code;
  std::vector<const char*> files;
};
Result<ProgramCompiler> open_compiler(const ProgramLibrary& library);

Result<std::string> compile_with(const ProgramCompiler& compiler, const std::string& source,
                                 const std::vector<const char*>& options);

}  // namespace rung::gpu
