// Peak measurements with what every x86-64 processor has.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LOOPS portable
namespace rung::cpu::portable {
using Vec __attribute__((vector_size(16), may_alias)) = float;
}
#include "device/cpu/peak_loops.inc"
