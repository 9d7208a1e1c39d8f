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
  bool is_hosts = false;  // the program that rung is part of had it loaded before, for itself

  // For callers that are threads of a team, each with a part of its own. Another's library stays as it is.
  void hold_to_one_thread() const;
};

// Opened once; it stays. Errors: it is not installed, or lacks a function.
const Result<OpenBlas>& openblas();

}  // namespace rung::cpu::gemm
