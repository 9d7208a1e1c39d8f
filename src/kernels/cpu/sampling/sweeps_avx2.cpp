// The sweeps of sampling with AVX2.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/sampling/sweeps.inc"
