// Tells the version of the loaded oneDNN, which need not be that of the compiled headers, and its instruction sets.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/onednn_version.hpp"

#include <dnnl.h>
#include <dnnl_debug.h>
#include <fmt/format.h>

namespace rung::cpu::gemm {

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

std::string onednn_layouts() {
  std::string isa = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());  // "cpu_isa_avx2", "avx2": by version
  if (isa.starts_with("cpu_isa_")) isa.erase(0, 8);
  return fmt::format("{} for {}", onednn_version(), isa);
}

}  // namespace rung::cpu::gemm
