// Group norms with AVX2.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/norm/group_norm.inc"
