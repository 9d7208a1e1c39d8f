// Reads the facts in a copy's name, in the words of CUPTI and of AMD's tracers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "trace/recording/recording.hpp"

namespace rung::trace {

// Reads "Memcpy HtoD (Pageable -> Device)", "CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE". Negative bytes: unknown.
CopyShape copy_shape(std::string_view name, int64_t bytes);

}  // namespace rung::trace
