// Shared by `rung isa` and `rung occupancy`: the kernels of a file or folder, as read and as JSON.
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
  std::string target;  // of text that names none
  int lds_bytes = 0;   // that launches add
  bool code = true;    // as amdgpu::IsaOptions::code
  bool json = false;
};

struct ReadKernel {
  std::string file;  // within the folder; empty: of a file
  amdgpu::KernelReading reading;
};

// Reads the kernels of a file, or of a folder such as Triton's cache: all its files that are named as machine code is
// (.co, .hsaco, .amdgcn, .s), but text only where no code object of that name stands beside it. LDS that Triton notes
// beside them is added. Errors: as amdgpu::read_machine_code(), naming the file; no such files; no kernel of that name.
Result<std::vector<ReadKernel>> read_machine_code(const MachineCodeFlags& flags);

amdgpu::OccupancyFormula formula_named(const std::string& word);
nlohmann::json to_json(const amdgpu::Occupancy& occupancy);
// "3 waves per SIMD by vector registers, 4 vector registers above 4 waves (vector registers 3, scalar registers 8,
// ...)"
std::string text_of(const amdgpu::Occupancy& occupancy);

}  // namespace rung::cli
