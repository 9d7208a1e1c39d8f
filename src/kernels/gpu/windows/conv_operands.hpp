// Reads of a problem that the rows of conv share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/windows/conv_end.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

// Accepts floats that kernels compute with, windows and results that 32-bit numbers count, a dense residual, a tail
// that is a clipped line.
Verdict supports_conv(const Problem& problem);
// Accepts a bias whose elements are neighbours, or none.
Verdict supports_dense_bias(const Problem& problem);
void place_windows(const Problem& problem, WindowAxis (&axes)[kWindowAxes]);
ConvEnd conv_end_of(const Call& call);

// Kernel::packed_bytes and Kernel::pack of depthwise rows: w, [channels, taps], becomes f32 [taps, channels].
size_t depthwise_packed_bytes(const Problem& problem, const Machine&, size_t operand);
void pack_depthwise(const Problem& problem, const Machine&, size_t operand, const void* from, void* to);

}  // namespace rung::gpu
