// Facts of this processor: its name, cores, caches and vector instruction sets, read at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

namespace rung::cpu {

struct CpuInfo {
  std::string name;
  int cores = 1;  // usable by this process (affinity, quota)
  size_t l1_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 16 << 20;
  bool avx2 = false;    // with FMA and F16C
  bool avx512 = false;  // F, BW, DQ, VL
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool amx_bf16 = false;         // also: the kernel lets this process use the tiles
  bool amx_int8 = false;         // only with amx_bf16
  std::string isa_text() const;  // "avx2 avx512 avx512_vnni avx512_bf16 amx_bf16 amx_int8"
};

// Reads the facts once; RUNG_CPU_ISA caps them (isa_cap.hpp).
const CpuInfo& cpu_info();

}  // namespace rung::cpu
