// hiprtc, the run-time compiler of ROCm.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/compilers/program_compiler.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

const Result<ProgramCompiler>& library() {
  static const Result<ProgramCompiler> kOpened =
      open_compiler({"hiprtc", "hiprtc", "Code", {"libhiprtc.so.7", "libhiprtc.so.6", "/opt/rocm/lib/libhiprtc.so"}});
  return kOpened;
}

bool is_for_amd(const GpuInfo& gpu) { return gpu.runtime == "hip"; }

Result<std::string> version() {
  RUNG_TRY(const ProgramCompiler found, library());
  return found.name;
}

Result<std::string> compile(const std::string& source, int architecture) {
  RUNG_TRY(const ProgramCompiler found, library());
  const std::string target = "--offload-arch=" + architecture_name(architecture);
  return compile_with(found, source, {target.c_str(), "-O3", "-std=c++20"});
}

}  // namespace

extern const Compiler hiprtc = {"hiprtc", is_for_amd, version, compile};

}  // namespace rung::gpu
