// Finds code objects within files: libraries, programs and bundles, compressed ones too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "base/status.hpp"

namespace rung::amdgpu {

// Calls `visit` for each code object within a file, in their order: the file itself, or the objects in a library, a
// program or a bundle. The bytes of a compressed bundle's objects last as long as the call. The first error of `visit`
// ends the search. Errors (ErrorKind::file): an object or a bundle that is cut short or damaged, no code object.
Status for_each_code_object(std::span<const std::byte> file,
                            const std::function<Status(std::span<const std::byte>)>& visit);

}  // namespace rung::amdgpu
