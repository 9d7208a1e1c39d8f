// The packed linear: constant weights laid out in panels, in the order a thread streams them; see micro.hpp for the
// panel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/micro.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::cpu::gemm {

// Everything about one problem that does not change from call to call.
struct PackedPlan {
  const MicroKernels* micro = nullptr;
  LinearShape shape;
  int64_t parts = 1;   // panels side by side: 2 when gated (gate, then up)
  int64_t panels = 0;  // panels (of `parts`) across n
  int64_t k_padded = 0, panel_bytes = 0;
  int64_t k_block = 0, row_chunk = 0;
  int64_t row_threads = 1;  // threads / row_threads share the columns
  int pieces = 1;           // in which a thread's share of the columns comes; each is a part
  bool copies_x = false, prefetches = true;
  int64_t x_stride = 0;     // of what the tiles read: x itself or its copy, elements
  int64_t from_stride = 0;  // of x itself
  DType x_type = DType::f32;
  Finish finish;          // all but the part
  size_t sums_bytes = 0;  // per thread
  size_t copy_bytes = 0;  // of x's copy, which comes first in scratch
  PackedPlan(const Problem& problem, const MicroKernels& micro_kernels);
  Split split(int threads) const { return {threads * pieces, copies_x ? 2 : 1}; }
};

// The linear's last step except the part that it is done on: place() has that, and where the sums are the caller's.
Finish finish_of(const Problem& problem);
// The first elements of what the last step reads beside the sums, null if there is none, and writes.
struct FinishOperands {
  const void* bias = nullptr;
  const void* residual = nullptr;
  void* out = nullptr;
  explicit FinishOperands(const Call& call);
};
// Those rows and columns of a result of n columns, which is gated if `finish` has a gate.
void place(Finish& finish, const FinishOperands& operands, Range rows, Range columns, int64_t n);
// Where the slot's operand has that element; null: there is no such operand.
const std::byte* element_of(const Call& call, LinearSlot slot, int64_t element);

size_t packed_bytes(const PackedPlan& plan);
void pack(const PackedPlan& plan, const void* from, void* to);
void run(const PackedPlan& plan, const Call& call);

}  // namespace rung::cpu::gemm
