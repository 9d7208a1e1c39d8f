// Facts of a GPU: its name, architecture, size and the features that kernels need.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace rung::gpu {

struct GemmLibrary;  // gemm_library.hpp

// The number of wave instructions that a device which counts them reports as a millisecond.
inline constexpr double kInstructionsPerMs = 1000;

struct GpuInfo {
  std::string name;         // "NVIDIA H200"; empty: there is no GPU
  std::string runtime;      // "cuda", "hip", "emu"
  std::string bus_address;  // on the PCI bus: "0000:19:00.0"
  int architecture = 0;     // compute capability times ten on NVIDIA (90), the gfx number on AMD (0x942)
  int multiprocessors = 0;
  int lanes = 32;                     // threads that run in lock-step: 32, or 64 on AMD's CDNA
  size_t shared_bytes_per_block = 0;  // the most that one block may ask for
  size_t l2_bytes = 0;
  size_t memory_bytes = 0;
  int driver_version = 0;                          // as the driver numbers it: 13000 for CUDA 13.0
  bool cooperative = false;                        // launches of a whole grid with a barrier
  bool clusters = false;                           // thread-block clusters, distributed shared memory, bulk copies
  bool dependent_launch = false;                   // a kernel may start before the one it depends on has ended
  std::vector<const GemmLibrary*> gemm_libraries;  // the vendor's that could be opened, the preferred one first
  // An emulator has no time: code that times its work counts wave instructions instead, and tells people so.
  bool counts_instructions = false;

  const GemmLibrary* preferred_library() const { return gemm_libraries.empty() ? nullptr : gemm_libraries.front(); }
};

}  // namespace rung::gpu
