// Helpers of the rows of attention kernels: the problems that they take, and the kernels' argument that they fill.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention_arguments.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

// The sizes of an attention problem.
struct AttentionShape {
  int64_t batch, queries, heads, width, groups, keys;
  size_t first_key;  // the index of the first segment's k among the operands
  explicit AttentionShape(const Problem& problem);
  int64_t rows() const { return queries * (heads / groups); }  // packed rows of one group
};

Verdict supports_attention(const Problem& problem, const Machine& machine);
// Accepts results as sums leave them, in the type of q.
Verdict supports_plain_result(const Problem& problem);
// Accepts keys and values of the queries' type.
Verdict supports_keys_like_queries(const Problem& problem);
// Accepts 16-bit elements, keys and values of 8 bits among them, whose rows can be copied 16 bytes at a time.
Verdict supports_matrix_attention(const Problem& problem, const Machine& machine);

// Returns the type of keys as variants name it: f8e4m3fn stands for the machine's e4m3.
DType key_type_of(const Problem& problem);

// Returns the largest number of elements, up to 8, of which the heads' width and the rows' distances are multiples.
int64_t attention_unit(const Problem& problem);

AttentionArguments attention_arguments(const Call& call);

// Returns a launch with a block for every `rows` packed rows of every group and batch, for each of `splits`.
Launch attention_launch(const Call& call, int rows, int splits = 1);

}  // namespace rung::gpu
