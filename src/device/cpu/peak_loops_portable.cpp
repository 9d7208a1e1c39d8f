// Compiles the peak measurements for any x86-64 processor.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LOOPS portable
namespace rung::cpu::portable {
using Vec __attribute__((vector_size(16), may_alias)) = float;
}
#include "device/cpu/peak_loops.inc"
