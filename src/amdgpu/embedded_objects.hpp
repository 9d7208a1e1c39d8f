// Code objects within files: libraries, programs and bundles.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/status.hpp"

namespace rung::amdgpu {

// The code objects within a file: itself, or those that a library, a program or a bundle holds uncompressed.
// Errors (ErrorKind::file): one that is cut short; none, and if there are compressed bundles, how these are and what
// unpacks them.
Result<std::vector<std::span<const std::byte>>> find_code_objects(std::span<const std::byte> file);

}  // namespace rung::amdgpu
