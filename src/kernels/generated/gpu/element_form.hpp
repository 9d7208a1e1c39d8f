// The form of generated kernels in which a thread computes some elements, each from the operands' elements at its
// place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/generated/gpu/source.hpp"
#include "kernels/generated/gpu/work.hpp"

namespace rung::gpu {

// Every register of `work` stands for elements afterwards.
GeneratedSource element_form(GeneratedWork& work, const GpuInfo& gpu);

}  // namespace rung::gpu
