// The compiler clang as a program, which needs nothing of ROCm: for AMD's GPUs without hiprtc, and for emulated ones.
// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"
#include "base/program.hpp"
#include "base/scratch_folder.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

constexpr const char* kProgram = "/usr/bin/clang++-22";
constexpr double kSeconds = 120;

bool is_for_amd_without_rocm(const GpuInfo& gpu) { return gpu.runtime == "hip" || gpu.runtime == "emu"; }

Result<std::string> version() {
  static const Result<std::string> kVersion = []() -> Result<std::string> {
    const auto said = ask_program(kProgram, {"--version"}, kSeconds);
    if (!said || said->exit_code != 0) return no_device("no {}", kProgram);
    return said->output.substr(0, said->output.find('\n'));
  }();
  return kVersion;
}

Result<std::string> compile(const std::string& source, int architecture) {
  RUNG_TRY(const ScratchFolder folder, ScratchFolder::create());
  for (const SourceHeader& header : generated_headers())
    RUNG_CHECK(write_file_atomically(folder / header.name, header.text));
  RUNG_CHECK(write_file_atomically(folder / "generated.hip", source));
  const std::string target = "--offload-arch=" + architecture_name(architecture), image = folder / "generated.co";
  RUNG_TRY(const Ended ended, run_program(kProgram,
                                          {"-x",
                                           "hip",
                                           "--offload-device-only",
                                           "--no-gpu-bundle-output",
                                           "-nogpulib",
                                           "-nogpuinc",
                                           "-mcode-object-version=5",
                                           "-fuse-cuid=none",
                                           "-O3",
                                           "-std=c++20",
                                           "-Wno-pass-failed",
                                           "-mllvm",
                                           "-amdgpu-early-inline-all=true",
                                           "-mllvm",
                                           "-amdgpu-function-calls=false",
                                           "-Xoffload-linker",
                                           "-s",
                                           target,
                                           "-o",
                                           image,
                                           folder / "generated.hip"},
                                          kSeconds));
  if (ended.exit_code != 0) return fail("{} {}: {}", kProgram, ended.how, first_words(ended.errors));
  return read_text_file(image);
}

}  // namespace

extern const Compiler amd_clang = {"clang", is_for_amd_without_rocm, version, compile};

}  // namespace rung::gpu
