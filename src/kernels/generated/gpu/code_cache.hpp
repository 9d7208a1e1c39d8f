// The user's cache of generated kernels, in the folder `generated`: one file for each kernel, one for each image.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "kernels/generated/gpu/code.hpp"

namespace rung::gpu {

// Returns the code that was kept under a name; none: there are no such files, or one was cut short or changed. Kernels
// of one image share it.
std::optional<GeneratedCode> read_kept_code(const std::string& name);

// An image is kept before the code that lies in it. A cache that cannot be written costs time alone: the log says so.
void keep_image(const CodeImage& image);
void keep_code(const GeneratedCode& code);

}  // namespace rung::gpu
