// Machine code of generated kernels: compiled once for each source, kept in the process and in the user's cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "kernels/generated/gpu/source.hpp"

namespace rung::gpu {

struct GeneratedCode {
  std::string name;   // of the module: the same for the same source, compiler and GPU
  std::string image;  // as the device's runtime loads it
};

// Returns the code of a source. Errors: no compiler is here; the compiler's own.
Result<std::shared_ptr<const GeneratedCode>> code_of(const GeneratedSource& source, const GpuInfo& gpu);

}  // namespace rung::gpu
