// The kernels of a file or folder, as read and as JSON, for `rung isa` and `rung occupancy`.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "amdgpu/analysis/machine_code.hpp"
#include "base/mapped_file.hpp"

namespace rung::cli {

struct MachineCodeFlags {
  std::string file, kernel;  // `kernel` empty: all
  std::string formula = "exact";
  std::string target;  // for text that names no target
  int lds_bytes = 0;   // added by launches
  bool code = true;    // as amdgpu::IsaOptions::code
  bool json = false;
};

struct ReadKernel {
  std::string file;  // within the folder; empty: `file` was no folder
  amdgpu::KernelReading reading;
};

// Reads the kernels of a file, or of a folder such as Triton's cache: all its files with a name of machine code (.co,
// .hsaco, .amdgcn, .s), but text only if no code object of that name lies beside it. LDS that Triton notes beside them
// is added. Errors: as amdgpu::read_machine_code(), naming the file; no such files; no kernel of that name.
Result<std::vector<ReadKernel>> read_machine_code(const MachineCodeFlags& flags);

amdgpu::OccupancyFormula formula_named(const std::string& word);
nlohmann::json to_json(const amdgpu::Occupancy& occupancy);
// Returns "3 waves per SIMD by vector registers, 4 vector registers above 4 waves (vector registers 3, scalar registers
// 8, ...)".
std::string text_of(const amdgpu::Occupancy& occupancy);

}  // namespace rung::cli
