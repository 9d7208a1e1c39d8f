// NVRTC, the run-time compiler of CUDA.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/compilers/program_compiler.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

const Result<ProgramCompiler>& library() {
  static const Result<ProgramCompiler> kOpened = open_compiler(
      {"NVRTC", "nvrtc", "CUBIN", {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13"}});
  return kOpened;
}

bool is_for_nvidia(const GpuInfo& gpu) { return gpu.runtime == "cuda"; }

Result<std::string> version() {
  RUNG_TRY(const ProgramCompiler found, library());
  return found.name;
}

Result<std::string> compile(const std::string& source, int architecture) {
  RUNG_TRY(const ProgramCompiler found, library());
  const std::string target = "--gpu-architecture=" + architecture_name(architecture);
  return compile_with(found, source, {target.c_str(), "--std=c++20"});
}

}  // namespace

extern const Compiler nvrtc = {"NVRTC", is_for_nvidia, version, compile};

}  // namespace rung::gpu
