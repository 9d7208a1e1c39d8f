// Compiles the peak measurements with AVX2.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LOOPS avx2
namespace rung::cpu::avx2 {
using Vec __attribute__((vector_size(32), may_alias)) = float;
}
#include "device/cpu/peak_loops.inc"
