// An AMD GPU without hardware: this processor executes its code objects, behind the same table as a driver.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/isa/isa.hpp"
#include "amdgpu/run/checks.hpp"
#include "amdgpu/run/count.hpp"
#include "device/gpu/runtime.hpp"

namespace rung::gpu {

// Each context of the one device is a device of its own, with its memory, its modules, and a fault that ends it alone.
// A mistake of a kernel is such a fault, whose text is the defect. An emulator has no time: its events tell how many
// wave instructions a stream executed between them, kInstructionsPerMs of them as a millisecond (gpu_info.hpp).
const Runtime& emulated_runtime(amdgpu::Isa isa);

// Sets the checks of a context's launches from now on, before any is under way; by default all checks are made.
void set_emulated_checks(Context context, const amdgpu::Checks& checks);

// Returns the counts of launches in a context of such a runtime since the last call.
amdgpu::Counts take_emulated_counts(Context context);

}  // namespace rung::gpu
