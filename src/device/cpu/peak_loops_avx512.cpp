// Compiles the peak measurements with AVX-512.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LOOPS avx512
namespace rung::cpu::avx512 {
using Vec __attribute__((vector_size(64), may_alias)) = float;
}
#include "device/cpu/peak_loops.inc"
