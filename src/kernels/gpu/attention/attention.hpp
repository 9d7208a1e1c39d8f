// Shared by the rows of attention kernels: the problems that they take, and how they fill the kernels' argument.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention_arguments.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

// Sizes of an attention problem.
struct AttentionShape {
  int64_t batch, queries, heads, width, groups, keys;
  size_t first_key;  // the operand that is the first segment's k
  explicit AttentionShape(const Problem& problem);
  int64_t rows() const { return queries * (heads / groups); }  // packed, of one group
};

Verdict supports_attention(const Problem& problem, const Machine& machine);
// 16-bit elements, whose rows can be copied 16 bytes at a time.
Verdict supports_matrix_attention(const Problem& problem, const Machine& machine);

// The most elements, up to 8, that the heads' width and the distances between rows are multiples of.
int64_t attention_unit(const Problem& problem);

AttentionArguments attention_arguments(const Call& call);

// One block for every `rows` packed rows of every group and batch, for each of `splits`.
Launch attention_launch(const Call& call, int rows, int splits = 1);

}  // namespace rung::gpu
