// Helpers of the rows of vectorised kernels: the instruction set that a row needs, and the types that vectors load.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {

enum class CpuIsa { avx2, avx512, avx512_bf16, amx_bf16 };

template <CpuIsa isa>
Verdict wants(const Machine& cpu) {
  if constexpr (isa == CpuIsa::avx2) return cpu.avx2 ? accept() : reject("needs AVX2 and FMA");
  if constexpr (isa == CpuIsa::avx512) return cpu.avx512 ? accept() : reject("needs AVX-512");
  if constexpr (isa == CpuIsa::avx512_bf16) return cpu.avx512_bf16 ? accept() : reject("needs AVX-512 BF16");
  if constexpr (isa == CpuIsa::amx_bf16) return cpu.amx_bf16 ? accept() : reject("needs AMX BF16");
}

}  // namespace rung::cpu
