// Reads the kernels of a file, whatever form their code has in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "amdgpu/analysis/kernel_reading.hpp"

namespace rung::amdgpu {

// Reads the code objects that for_each_code_object() finds, or an assembler's text, whose architecture is `isa` if
// it does not say. Errors: those of for_each_code_object(), read_code_object(), read_assembly() and occupancy_of().
Result<std::vector<KernelReading>> read_machine_code(std::span<const std::byte> file, const IsaOptions& options,
                                                     std::optional<Isa> isa);

}  // namespace rung::amdgpu
