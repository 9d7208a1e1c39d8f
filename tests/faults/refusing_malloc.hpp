// A malloc and an mmap that count their calls and refuse one of them; linked into a test program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

extern "C" {
// The n-th allocation from now on is refused, counted from 1; 0: none. Not so within a destructor of the JSON library,
// which takes memory and cannot fail: refused there, the process ends.
void refuse_allocation(long n);
// Since refuse_allocation() was called.
long allocations_asked();
// Blocks that were made and not given back; what mmap gave is not among them.
long allocations_alive();
}
