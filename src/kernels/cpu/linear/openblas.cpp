// Opens OpenBLAS.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/openblas.hpp"

#include <dlfcn.h>

#include <cstring>

namespace rung::cpu::gemm {
namespace {

template <class Pointer>
Status find(void* from, const char* name, Pointer& to) {
  void* symbol = dlsym(from, name);
  if (!symbol) return fail("OpenBLAS has no {}", name);
  std::memcpy(&to, &symbol, sizeof symbol);
  return {};
}

Result<OpenBlas> open_library() {
  void* opened = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!opened) return fail("no OpenBLAS: {}", dlerror());
  OpenBlas blas;
  RUNG_CHECK(find(opened, "cblas_sgemm", blas.sgemm));
  RUNG_CHECK(find(opened, "openblas_get_config", blas.get_config));
  RUNG_CHECK(find(opened, "openblas_set_num_threads", blas.set_num_threads));
  return blas;
}

}  // namespace

const Result<OpenBlas>& openblas() {
  static const Result<OpenBlas> opened = open_library();
  return opened;
}

}  // namespace rung::cpu::gemm
