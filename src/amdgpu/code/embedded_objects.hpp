// Code objects within files: libraries, programs and bundles, compressed ones too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "base/status.hpp"

namespace rung::amdgpu {

// Calls `visit` for each code object within a file, in their order: the file itself, or those that a library, a program
// or a bundle holds. What is in a compressed bundle is there as long as the call lasts. The first error of `visit` ends
// it. Errors (ErrorKind::file): an object or a bundle that is cut short or damaged, no code object.
Status for_each_code_object(std::span<const std::byte> file,
                            const std::function<Status(std::span<const std::byte>)>& visit);

}  // namespace rung::amdgpu
