// Any text as an assembler's: refused with one line, or read.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/machine_code.hpp"
#include "seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  rung::write_seeds(
      *argc, *argv,
      {"\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\nk:\n\tv_lshlrev_b32_e32 v1, 4, v0\n.LBB0_1:\n"
       "\tglobal_load_dwordx4 v[4:7], v1, s[2:3] offset:16\n\ts_waitcnt vmcnt(0) lgkmcnt(0)\n"
       "\ts_and_saveexec_b64 s[4:5], vcc\n\tds_write2_b64 v1, v[4:5], v[6:7] offset1:1\n"
       "\ts_or_b64 exec, exec, s[4:5]\n\tds_read_b128 v[4:7], v1\n\ts_cbranch_scc1 .LBB0_1\n\ts_endpgm\n"
       ".Lfunc_end0:\n; codeLenInByte = 80\n\t.amdhsa_kernel k\n\t\t.amdhsa_next_free_vgpr 8\n"
       "\t.end_amdhsa_kernel\n\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .agpr_count: 0\n    .args:\n"
       "      - .offset: 0\n    .name: k\n    .vgpr_count: 8\n...\n\t.end_amdgpu_metadata\n",
       "0000000000001900 <k>:\n\tbuffer_load_dword v1, v2, s[4:7], 0 offen // 000000001900: 00000000 00000000\n"
       "\tv_mfma_f32_16x16x16_bf16 v[0:3], v[2:3], v[28:29], a[0:3] cbsz:1 // 000000001908: 00000000\n"
       "\ts_cbranch_execnz 65532 // 000000001910: BF89FFFC <k>\n"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  using namespace rung::amdgpu;
  const auto kernels = read_machine_code(std::as_bytes(std::span(data, size)), {}, Isa::gfx950);
  if (!kernels) {
    require(kernels.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  for (const KernelReading& kernel : *kernels)
    require(kernel.code.in_loops <= kernel.code.instructions, "what is in loops is in the kernel");
  return 0;
}
