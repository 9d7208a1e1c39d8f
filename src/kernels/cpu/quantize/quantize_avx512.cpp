// quantize with AVX-512.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/quantize/quantize.inc"
