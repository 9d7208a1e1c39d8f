// OpenBLAS, opened when a plan or the tuner first asks for its kernel: loading it starts a thread for each core, and a
// command that multiplies nothing may lack memory for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cblas.h>

#include "base/status.hpp"

namespace rung::cpu::gemm {

struct OpenBlas {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&openblas_get_config) get_config = nullptr;
  decltype(&openblas_set_num_threads) set_num_threads = nullptr;
  bool is_hosts = false;  // the host program had loaded it before, for itself

  // Limits the library to one thread, as each thread of a team calls it for its own part; a host program's library
  // stays as it is.
  void hold_to_one_thread() const;
};

// Opens the library once; it stays open. Errors: it is not installed, or lacks a function.
const Result<OpenBlas>& openblas();

}  // namespace rung::cpu::gemm
