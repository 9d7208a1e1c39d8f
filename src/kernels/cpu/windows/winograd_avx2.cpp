// Windows channel by channel with AVX2.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/winograd.inc"
