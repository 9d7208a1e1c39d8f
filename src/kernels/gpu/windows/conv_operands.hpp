// Reads of a problem that the rows of conv share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/windows/conv_end.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

// Accepts floats that kernels compute with, windows and results that 32-bit numbers count, a dense residual, no tail.
Verdict supports_conv(const Problem& problem);
// Accepts a bias whose elements are neighbours, or none.
Verdict supports_dense_bias(const Problem& problem);
void place_windows(const Problem& problem, WindowAxis (&axes)[kWindowAxes]);
ConvEnd conv_end_of(const Call& call);

}  // namespace rung::gpu
