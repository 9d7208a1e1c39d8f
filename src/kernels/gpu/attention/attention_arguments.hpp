// The argument of every attention kernel, as the host fills it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"

namespace rung::gpu {

inline constexpr int kMaxAttentionSegments = 4;
inline constexpr int kMaxAttentionWidth = 256;

// Strides are those of batch, position and head, in elements; a head's values are dense.
struct AttentionSegment {
  const void* k;
  const void* v;
  int64_t k_stride[3];
  int64_t v_stride[3];
  int32_t keys;
};

// Returns the inverse for a division by `ratio`: (x * inverse) >> 32, exact while x * ratio is below 2^32.
constexpr uint64_t inverse_of(int32_t ratio) { return (uint64_t{1} << 32) / static_cast<uint64_t>(ratio) + 1; }

// The keys that a query sees: those from query - before to query + after, and the first `prefix` (ir/key_span.hpp).
struct AttentionSpan {
  bool sees_all;
  int32_t before, after, prefix;
};

// The query heads that share a key head are packed: row r of a group is query r / ratio of its head r % ratio, where
// ratio = heads / groups.
struct AttentionArguments {
  uint64_t ratio_inverse;
  const void* q;
  void* out;          // [batch, queries, heads, width], dense
  DType out_type;     // of q, or, where a kernel knows them, i8 or the machine's e4m3
  float factor;       // of the result
  const float* mask;  // added to the scores; null: none
  int64_t q_stride[3];
  int64_t mask_stride[4];  // batch, head, query, key; 0 where it is broadcast
  AttentionSegment segment[kMaxAttentionSegments];
  int32_t segments;
  int32_t batch, queries, heads, groups, width;
  int32_t keys;  // of all segments
  int32_t ratio;
  float scale;
  float softcap;  // 0: none
  AttentionSpan span;
  const int64_t* length;  // of what the cache holds, which is the one segment; null: no cache
  uint64_t fault;         // the address of a Fault
};

}  // namespace rung::gpu
