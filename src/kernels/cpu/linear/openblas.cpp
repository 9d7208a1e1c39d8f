// Opens OpenBLAS.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/openblas.hpp"

#include <dlfcn.h>

#include "device/shared_library.hpp"

namespace rung::cpu::gemm {
namespace {

constexpr const char* kFile = "libopenblas.so.0";

Result<OpenBlas> open_library() {
  OpenBlas blas;
  blas.is_hosts = dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != nullptr;
  void* opened = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (!opened) return fail("no OpenBLAS: {}", dlerror());
  constexpr std::string_view kName = "OpenBLAS";
  RUNG_CHECK(find_function(opened, kName, "cblas_sgemm", blas.sgemm));
  RUNG_CHECK(find_function(opened, kName, "openblas_get_config", blas.get_config));
  RUNG_CHECK(find_function(opened, kName, "openblas_set_num_threads", blas.set_num_threads));
  blas.hold_to_one_thread();
  return blas;
}

}  // namespace

void OpenBlas::hold_to_one_thread() const {
  if (!is_hosts) set_num_threads(1);
}

const Result<OpenBlas>& openblas() {
  static const Result<OpenBlas> opened = open_library();
  return opened;
}

}  // namespace rung::cpu::gemm
