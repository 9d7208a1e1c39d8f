// AMD's GEMM library, hipBLASLt, opened at run time. Names, numbers and layouts are those of its API reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/gemm_library.hpp"
#include "device/gpu/lt_gemm.hpp"

namespace rung::gpu {

// Numbers that a test compares with the library's own header if it is there.
struct HipblasltTypes {
  struct Algorithm {
    uint8_t data[16];
    size_t most_workspace_bytes;
  };
  using Proposal = LtProposal<Algorithm>;
  static constexpr LtNumbers kNumbers{.compute_f32 = 2,
                                      .transpose = 112,
                                      .transpose_a = 0,
                                      .epilogue = 2,
                                      .bias_pointer = 3,
                                      .bias_type = 4,
                                      .batch_count = 0,
                                      .batch_stride = 1};
};

// Errors: no library, or a function missing in it.
Result<const GemmLibrary*> hipblaslt();

}  // namespace rung::gpu
