// OpenBLAS, opened when a plan or the tuner first asks for its kernel: loading it starts a thread for each core, whose
// memory a command that multiplies nothing may not have.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cblas.h>

#include "base/status.hpp"

namespace rung::cpu::gemm {

struct OpenBlas {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&openblas_get_config) get_config = nullptr;
  decltype(&openblas_set_num_threads) set_num_threads = nullptr;
};

// Opened once; it stays. Errors: it is not installed, or lacks a function.
const Result<OpenBlas>& openblas();

}  // namespace rung::cpu::gemm
