// The packed linear: constant weights laid out in panels (micro.hpp), in the order in which a thread streams them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/micro.hpp"
#include "kernels/cpu/linear/strassen.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::cpu::gemm {

inline constexpr int64_t kUsualBlock = 768;  // of k

// The facts of one problem that do not change from call to call.
struct PackedPlan {
  const MicroKernels* micro = nullptr;
  LinearShape shape;
  int64_t parts = 1;   // panels side by side: 2 when gated (gate, then up)
  int64_t panels = 0;  // panels (of `parts`) across n
  int64_t k_padded = 0, panel_bytes = 0;
  int64_t k_block = 0, row_chunk = 0;
  int64_t k_slab = 0;       // blocks of k that all panels go through together, so that x's part of them stays in the L2
  int64_t row_threads = 1;  // threads / row_threads share the columns
  int pieces = 1;           // pieces of a thread's share of the columns; each is a part
  bool copies_x = false, prefetches = true;
  bool copies_ahead = false;  // x is copied in a phase of its own: lanes share it; else slab by slab, into the L2
  int64_t x_stride = 0;       // of x or its copy, whichever the tiles read, in elements
  int64_t from_stride = 0;    // of x itself
  DType x_type = DType::f32, w_type = DType::f32;  // of x and w themselves; f16 becomes f32 in panels
  Finish finish;                                   // see finish_of()
  StrassenCut strassen;                            // where it is used, x is not copied and k is one block
  size_t outlier_bytes = 0;                        // of the weights of the outliers of a panel
  size_t sums_bytes = 0;                           // per thread
  size_t copy_bytes = 0;                           // of x's copy, which is first in scratch
  PackedPlan(const Problem& problem, const MicroKernels& micro_kernels, const Machine& machine);
  int64_t held_rows() const { return (row_chunk + micro->row_grain - 1) / micro->row_grain * micro->row_grain; }
  Split split(int threads) const {
    if (strassen.is_used()) return {strassen.row_parts * strassen.column_parts};
    return {threads * pieces, copies_ahead ? 2 : 1};
  }
};

// Returns the linear's last step, without the rows and columns, which place() sets, and the sums, which callers set.
Finish finish_of(const Problem& problem);
// The first elements of the operands that the last step reads beside the sums (null: there is none) and of its output.
struct FinishOperands {
  const void* bias = nullptr;
  const void* residual = nullptr;
  const float* scale = nullptr;
  const float* x_scale = nullptr;
  const float* x_outliers = nullptr;
  void* out = nullptr;
  explicit FinishOperands(const Call& call);
};
// Sets the rows and columns of a result of n columns, which is gated if `finish` has a gate.
void place(Finish& finish, const FinishOperands& operands, Range rows, Range columns, int64_t n);
// Returns the address of an element of the slot's operand; null: there is no such operand.
const std::byte* element_of(const Call& call, LinearSlot slot, int64_t element);

// Asks for a line of results or residuals, into the second cache: rows of results often share a few sets of the first
// one, which lines that were asked for to be written left before they were. On one thread m=1500 n=1536 k=512 took 21.6
// ms and takes 21.1 since, and as products of quarters 20.2 and 19.7 (AMD EPYC with AVX-512).
inline void prefetch_end(const std::byte* line) { __builtin_prefetch(line, 0, 2); }

size_t packed_bytes(const PackedPlan& plan);
void pack(const PackedPlan& plan, const void* from, void* to);
// The same of the weights of outliers: each panel has a row for each of them.
size_t packed_outlier_bytes(const PackedPlan& plan);
void pack_outliers(const PackedPlan& plan, DType type, const void* from, void* to);
void run(const PackedPlan& plan, const Call& call);
// Multiplies rows of x by some panels, on sums of one tile. x is not copied, and k is one block.
void multiply_rows(const PackedPlan& plan, const Call& call, Range rows, Range panels, float* sums);

}  // namespace rung::cpu::gemm
