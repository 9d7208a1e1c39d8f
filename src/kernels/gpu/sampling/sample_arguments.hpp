// The arguments of sample, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"
#include "ir/fault.hpp"

namespace rung::gpu {

constexpr uint32_t kSampleThreads = 256;  // of a block
constexpr uint32_t kSampleRun = 128;  // neighbouring logits, of which a warp finds the largest and the sum of weights

// Addresses; 0 where the op has no such operand.
struct SampleArguments {
  uint64_t given, settings, draw, bias, seen;
  uint64_t token, fault;
  uint64_t logits;                   // f32, with penalties and bias: `given`, or memory of the scratch
  uint64_t run_orders, run_weights;  // u32 and u64 of each run: the order of its largest logit, its sum of weights
  uint64_t full_runs;                // u32 of each run: those that have candidates
  uint64_t ranks, weights;           // u64 of each token: of candidates
  uint32_t tokens, runs;
  DType seen_type;
};

}  // namespace rung::gpu
