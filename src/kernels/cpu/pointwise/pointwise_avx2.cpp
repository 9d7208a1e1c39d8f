// Element-wise programs with AVX2.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/pointwise/pointwise.inc"
