// What `rung isa` and `rung occupancy` share: the kernels of a file's code objects, as read and as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "amdgpu/isa.hpp"
#include "base/mapped_file.hpp"

namespace rung::cli {

struct MachineCodeFlags {
  std::string file, kernel;  // `kernel` empty: all
  std::string formula = "exact";
  int lds_bytes = 0;  // that launches add
  bool json = false;
};

struct ReadKernel {
  amdgpu::Target target{};
  amdgpu::KernelReading reading;
};

// Errors: as find_code_objects(), read_code_object() and read_kernels(), naming the file; no kernel of that name.
Result<std::vector<ReadKernel>> read_machine_code(const MachineCodeFlags& flags);

amdgpu::OccupancyFormula formula_named(const std::string& word);
nlohmann::json to_json(const amdgpu::Occupancy& occupancy);
// "3 waves per SIMD by vector registers, 4 vector registers above 4 waves"
std::string text_of(const amdgpu::Occupancy& occupancy);

}  // namespace rung::cli
