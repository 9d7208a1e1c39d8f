// Shared by the rows of convolution: the operands that they take, their weights, and the end of a result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/cpu/share.hpp"
#include "kernels/clipped_line_of.hpp"
#include "kernels/cpu/linear/micro.hpp"
#include "kernels/cpu/rows.hpp"

namespace rung::cpu {

// Checks the operands as our own rows need them: f32, bf16 or f16, a dense residual; not transposed.
Verdict supports_conv(const Problem& problem);
// The same for rows that pack weights ahead of all calls.
Verdict supports_constant_conv(const Problem& problem);

// Returns what ConvFinish does last, in one sweep: the tail, or a relu that is the last activation.
std::optional<ClippedLine> tail_of(const Conv& op);

// Reads one element of f32, bf16 or f16.
float element_at(const void* from, DType type, int64_t at);

// Reads weights [O,K...,C/groups] through their strides.
class ConvWeights {
 public:
  ConvWeights(const Problem& problem, const void* from) : w_(problem.inputs[1]), from_(from) {}
  // Returns the element of a row at a tap, counted in row order over all axes, and at a channel of the group.
  float at(int64_t row, int64_t tap, int64_t channel) const;

 private:
  const Operand& w_;
  const void* from_;
};

// The last step of a convolution over a block of results: bias, activation, residual, last activation, tail.
class ConvFinish {
 public:
  // Sums of neighbouring results, a row each.
  struct Sums {
    float* at;
    int64_t width;  // elements from row to row
  };
  struct Part {
    int64_t begin, count;
  };
  // `tail` is tail_of() the op, and outlives it.
  ConvFinish(const Call& call, const gemm::MicroKernels& micro, const std::optional<ClippedLine>& tail);
  // Overwrites the sums where there is a last activation.
  void run(Sums sums, Part results, Part columns) const;

 private:
  const std::byte* element(const void* base, DType type, int64_t at) const;

  const Conv& op_;
  void (*finish_)(const gemm::Finish&);
  const ClippedLine* tail_;
  const void *bias_, *residual_;
  void* out_;
  int64_t columns_;  // of the result
  DType out_type_, bias_type_ = DType::f32, residual_type_ = DType::f32;
};

}  // namespace rung::cpu
