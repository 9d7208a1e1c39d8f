// Includes the side of portable.cuh that this compiler builds for: one line for each vendor.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#ifdef __HIP__
#include "kernels/gpu/vendor/amd.cuh"
#else
#include "kernels/gpu/vendor/nvidia.cuh"
#endif
