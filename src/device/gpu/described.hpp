// GPUs that are not there: launches on one are written down, and nothing is done.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "amdgpu/code/code_object.hpp"
#include "device/gpu/runtime.hpp"

namespace rung::gpu {

struct RecordedLaunch {
  std::string function;
  const amdgpu::KernelInfo* kernel = nullptr;  // in AMD's code, alive as long as the context; null: NVIDIA's
  Launch shape;
};

// Device i is cards()[i]. Any address is valid, and memory is never touched.
const Runtime& described_runtime();

// Returns the launches in a context of that runtime since the last call.
std::vector<RecordedLaunch> take_recorded_launches(Context context);

}  // namespace rung::gpu
