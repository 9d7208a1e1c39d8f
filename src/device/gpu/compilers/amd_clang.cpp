// The compiler clang as a program, which needs nothing of ROCm: for AMD's GPUs without hiprtc, and for emulated ones.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/atomic_file.hpp"
#include "base/program.hpp"
#include "base/scratch_folder.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

constexpr double kSeconds = 120;

// Returns the program that the variable RUNG_CLANG names, else Debian's.
std::string program() {
  const char* named = std::getenv("RUNG_CLANG");
  return named && *named ? named : "/usr/bin/clang++-22";
}

bool is_for_amd_without_rocm(const GpuInfo& gpu) { return gpu.runtime == "hip" || gpu.runtime == "emu"; }

Result<std::string> ask_version(const std::string& path) {
  const auto said = ask_program(path, {"--version"}, kSeconds);
  if (!said || said->exit_code != 0) return no_device("no {}", path);
  return said->output.substr(0, said->output.find('\n'));
}

Result<std::string> version() {
  static std::mutex mutex;
  static std::map<std::string, Result<std::string>> known;  // by program
  const std::string path = program();
  const std::lock_guard lock(mutex);
  const auto it = known.find(path);
  return it != known.end() ? it->second : known.emplace(path, ask_version(path)).first->second;
}

Result<std::string> compile(const std::string& source, int architecture) {
  RUNG_TRY(const ScratchFolder folder, ScratchFolder::create());
  for (const SourceHeader& header : generated_headers())
    RUNG_CHECK(write_file_atomically(folder / header.name, header.text));
  RUNG_CHECK(write_file_atomically(folder / "generated.hip", source));
  const std::string target = "--offload-arch=" + architecture_name(architecture), image = folder / "generated.co";
  RUNG_TRY(const Ended ended, run_program(program(),
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
  if (ended.exit_code != 0) return fail("{} {}: {}", program(), ended.how, first_words(ended.errors));
  return read_text_file(image);
}

}  // namespace

extern const Compiler amd_clang = {"clang", is_for_amd_without_rocm, version, compile};

}  // namespace rung::gpu
