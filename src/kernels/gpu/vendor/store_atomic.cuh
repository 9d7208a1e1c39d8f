// A store that threads of several blocks may make at once, as they report the faults of a launch.
// SPDX-License-Identifier: Apache-2.0
// Built-in code and generated kernels include it; it needs only uint32_t.
#pragma once

#if defined(__HIP__) || defined(__HIPCC_RTC__)
// An exchange whose old value nobody takes: gfx90a has no atomic store that differs from an ordinary one.
__device__ inline void store_atomic(uint32_t* to, uint32_t value) {
  __hip_atomic_exchange(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
#else
__device__ inline void store_atomic(uint32_t* to, uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
#endif
