// The form of generated kernels in which the threads of a row hold its values in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/generated/gpu/source.hpp"
#include "kernels/generated/gpu/work.hpp"

namespace rung::gpu {

// Errors: rows that registers do not hold.
Result<GeneratedSource> row_form(const GeneratedWork& work, const GpuInfo& gpu);

}  // namespace rung::gpu
