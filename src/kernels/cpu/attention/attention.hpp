// The arguments of the vectorised attention kernels: plain numbers, so that files compiled for an instruction set need
// no function of another header.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"

namespace rung::cpu {

inline constexpr int kMaxAttentionSegments = 4;
inline constexpr int64_t kMaxQueryBlock = 128;
inline constexpr int64_t kMaxBf16AttentionWidth = 256;  // for the kernels that multiply pairs of bf16

// Strides are in elements. Each of the `groups` key heads serves heads / groups query heads.
struct AttentionPlan {
  int64_t batch, queries, heads, groups, width, keys;
  int64_t q[3];     // batch, query, head
  int64_t mask[4];  // batch, head, query, key; the last is 0 or 1
  float scale;
  float softcap, inverse_softcap;  // both 0: scores are not capped
  float factor;                    // of the result
  bool to_i8;                      // else the result has the type of q
  bool has_mask;
  bool sees_all;  // each query sees all keys; else those of its span (ir/key_span.hpp)
  int64_t before, after, prefix;
  DType dtype;       // of queries
  bool keys_are_f8;  // f8e4m3fn; else they have the type of queries
  int segments;
  struct Segment {
    int64_t keys;
    int64_t k[3], v[3];  // batch, key, head
  } segment[kMaxAttentionSegments];
  int64_t query_block;
  int64_t padded_keys;   // rounded up to whole vectors, or pairs of them: the stride of a row of scores
  int64_t padded_width;  // rounded up to 32 by the kernels that multiply pairs of bf16
  // The parts of a thread's scratch begin at these floats; K is first. Only kernels of pairs keep weights apart.
  int64_t v_at, q_at, weights_at, scores_at, sums_at, thread_floats;
};

// The work of one thread: blocks [begin, end) of the list of (batch, group, head in the group, block of queries).
struct AttentionWork {
  const AttentionPlan* plan;
  const void* q;
  const float* mask;
  const void* const* kv;  // k, v of each segment
  void* out;
  float* scratch;
  int64_t begin, end;
};

namespace avx2 {
void attention(const AttentionWork& work);
}
namespace avx512 {
void attention(const AttentionWork& work);
}
namespace avx512_bf16 {
void attention(const AttentionWork& work);
}
namespace amx_bf16 {
void attention(const AttentionWork& work);
}

}  // namespace rung::cpu
