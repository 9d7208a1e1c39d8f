// Rope, masked mean and reductions with AVX-512.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/lines/lines.inc"
