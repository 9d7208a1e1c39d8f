// The arguments of the attention kernels of a few queries over a long cache: plain numbers, so that files compiled for
// an instruction set need no function of another header.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"

namespace rung::cpu {

inline constexpr int64_t kMostCacheRows = 32;    // packed rows of one key head: queries x heads of the group
inline constexpr int64_t kCacheLanes = 16;       // rows of floats are padded to whole vectors of any width
inline constexpr int64_t kCacheStatistics = 16;  // floats of a row's largest score and sum, padded

// Strides are in elements.
struct CachePlan {
  int64_t batch, queries, heads, groups, width, keys;  // keys: the places that the cache has
  int64_t q[3], k[3], v[3];                            // batch, query or key, head
  float scale;
  float softcap, inverse_softcap;  // both 0: scores are not capped
  bool sees_all;                   // each query sees all keys that are there
  int64_t before, after, prefix;   // ir/key_span.hpp
  DType dtype;                     // of queries and results
  bool keys_are_f8;                // f8e4m3fn; else they have the type of queries
  int64_t runs;                    // into which the keys of a key head are cut, to share them among threads

  int64_t ratio() const { return heads / groups; }
  int64_t rows() const { return queries * ratio(); }  // row r is query r / ratio of the group's head r % ratio
  int64_t padded_width() const { return (width + kCacheLanes - 1) / kCacheLanes * kCacheLanes; }
  int64_t row_floats() const { return padded_width() + kCacheStatistics; }
  int64_t thread_floats() const { return rows() * padded_width(); }  // the queries
  int64_t run_floats() const { return rows() * row_floats(); }       // of one key head: sums, then statistics
};

// Pieces [begin, end) of the list of (batch, group, run). `sums`: a run's results by piece.
struct CacheWork {
  const CachePlan* plan;
  const void *q, *k, *v;
  void* out;
  float *queries, *sums;
  int64_t length;
  int64_t begin, end;
};

// attend_cache() computes each piece's sums; join_runs() joins the runs of heads [begin, end) of the list of
// (batch, group), when all sums are there.
namespace avx2 {
void attend_cache(const CacheWork& work);
void join_runs(const CacheWork& work);
}  // namespace avx2
namespace avx512 {
void attend_cache(const CacheWork& work);
void join_runs(const CacheWork& work);
}  // namespace avx512

}  // namespace rung::cpu
