// Opens OpenBLAS.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/openblas.hpp"

#include <dlfcn.h>

#include "device/shared_library.hpp"

namespace rung::cpu::gemm {
namespace {

Result<OpenBlas> open_library() {
  void* opened = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!opened) return fail("no OpenBLAS: {}", dlerror());
  OpenBlas blas;
  constexpr std::string_view kName = "OpenBLAS";
  RUNG_CHECK(find_function(opened, kName, "cblas_sgemm", blas.sgemm));
  RUNG_CHECK(find_function(opened, kName, "openblas_get_config", blas.get_config));
  RUNG_CHECK(find_function(opened, kName, "openblas_set_num_threads", blas.set_num_threads));
  return blas;
}

}  // namespace

const Result<OpenBlas>& openblas() {
  static const Result<OpenBlas> opened = open_library();
  return opened;
}

}  // namespace rung::cpu::gemm
