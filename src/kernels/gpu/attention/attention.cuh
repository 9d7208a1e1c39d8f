// Helpers of the attention kernels: packed rows of queries, keys across segments, and the running softmax.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention_arguments.hpp"
#include "kernels/gpu/fault.cuh"
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

inline constexpr float kLog2E = 1.4426950408889634f;

// Returns the query of a row of packed heads: row / ratio.
__device__ inline int query_of(const AttentionArguments& a, int row) {
  return static_cast<int>(row * a.ratio_inverse >> 32);
}

// The keys that are there, in the order of their places. Without a length those are all keys, from place 0 on. A cache
// is a ring: where the text is longer than it, it holds the text's end, whose first key stands anywhere.
struct PresentKeys {
  int count;
  int first_query = 0;  // the place of query 0, as those of keys counted from the first key on
  int first = 0;        // the first key's row in memory
  int rows;             // that memory has
  int prefix;           // keys that every query sees

  __device__ explicit PresentKeys(const AttentionArguments& a) : count(a.keys), rows(a.keys), prefix(a.span.prefix) {}
  // Reads the length if there is one: producers must have been waited for.
  __device__ void read_length(const AttentionArguments& a) {
    if (!a.length) return;
    const int64_t length = *a.length;
    if (length < a.queries) report_fault(a.fault, Fault::index_out_of_range);
    count = static_cast<int>(max(int64_t{0}, min(length, int64_t{rows})));
    first_query = count - a.queries;
    if (length <= rows) return;
    first = static_cast<int>(length % rows);
    prefix = static_cast<int>(max(int64_t{0}, prefix - (length - rows)));
  }
  __device__ int row(int key) const { return first + key < rows ? first + key : first + key - rows; }
  __device__ int place_of(int query) const { return first_query + query; }
};

// The rows of one block: those of all heads that read key head `group` of `batch`.
struct AttentionRows {
  const AttentionArguments& a;
  int batch, group;

  __device__ int count() const { return a.queries * a.ratio; }
  template <class T>
  __device__ const T* q(int row) const {
    const int query = query_of(a, row), head = head_of(row, query);
    return static_cast<const T*>(a.q) + batch * a.q_stride[0] + query * a.q_stride[1] + head * a.q_stride[2];
  }
  template <class T>
  __device__ T* out(int row) const {
    const int query = query_of(a, row), head = head_of(row, query);
    return static_cast<T*>(a.out) + ((static_cast<int64_t>(batch) * a.queries + query) * a.heads + head) * a.width;
  }
  __device__ const float* mask(int row) const {
    const int query = query_of(a, row), head = head_of(row, query);
    return a.mask + batch * a.mask_stride[0] + head * a.mask_stride[1] + query * a.mask_stride[2];
  }

 private:
  __device__ int head_of(int row, int query) const { return group * a.ratio + row - query * a.ratio; }
};

// The keys from the first to the last that any of a block's rows sees. A prefix and a window that are apart are one
// range: what lies between them is computed, and hidden.
struct SeenKeys {
  int begin, end;
  __device__ SeenKeys(const AttentionArguments& a, const PresentKeys& keys, int first_row, int rows)
      : begin(0), end(keys.count) {
    if (a.span.sees_all) return;
    const int last_row = min(first_row + rows, a.queries * a.ratio) - 1;
    end = min(keys.count, max(keys.prefix, keys.place_of(query_of(a, last_row)) + a.span.after + 1));
    if (keys.prefix == 0)
      begin = min(max(0, keys.place_of(query_of(a, first_row)) - a.span.before), keys.count);
  }
};
// Tells whether a query that stands at `place` sees a key.
__device__ inline bool sees(const AttentionSpan& span, const PresentKeys& keys, int place, int key) {
  return key < keys.prefix || (key >= place - span.before && key <= place + span.after);
}

// The addresses of 16 bytes of a key and of its value.
template <class T>
struct KeyValue {
  const T* k;
  const T* v;
  __device__ KeyValue(const AttentionRows& rows, const AttentionSegment& from, int64_t key, int d)
      : k(static_cast<const T*>(from.k) + rows.batch * from.k_stride[0] + key * from.k_stride[1] +
          rows.group * from.k_stride[2] + d),
        v(static_cast<const T*>(from.v) + rows.batch * from.v_stride[0] + key * from.v_stride[1] +
          rows.group * from.v_stride[2] + d) {}
};

// The segment that holds key number `key` of all segments one after another, and that key's number in it.
struct Place {
  int segment = 0, key;
  __device__ Place(const AttentionArguments& a, int key) : key(key) {
    while (segment + 1 < a.segments && this->key >= a.segment[segment].keys) this->key -= a.segment[segment++].keys;
  }
};

// Returns the number of neighbouring threads that copy a row of chunks of 16 bytes, one each; some copy none.
constexpr int row_threads(int chunks) { return chunks <= 4 ? 4 : chunks <= 8 ? 8 : chunks <= 16 ? 16 : 32; }
// Returns of how many of the `count` keys that `threads` threads copy a thread has a chunk.
constexpr int keys_of_a_thread(int count, int chunks, int threads) { return count / (threads / row_threads(chunks)); }

// Calls copy(i, row, chunk, from, valid) for `count` keys from `first` on, spread over `threads` threads by chunks of
// 16 bytes; `chunks` chunks make a row. A chunk that is not valid, beyond the last key or the heads' width, must become
// zero. The key is the thread's i-th; where i is not known at compile time, copy(row, chunk, from, valid) is called.
template <class T, int count, int chunks, int threads, class Copy>
__device__ inline void for_keys(const AttentionRows& rows, const PresentKeys& keys, int first, int thread, Copy copy) {
  constexpr int kRowThreads = row_threads(chunks), kStep = threads / kRowThreads;
  static_assert(count % kStep == 0);
  const AttentionArguments& a = rows.a;
  const int row = thread / kRowThreads, chunk = thread % kRowThreads;
  if (chunk >= chunks) return;
  const bool inside = chunk * 8 < a.width;
  const Place place(a, keys.row(first));
  const AttentionSegment& segment = a.segment[place.segment];
  if (first + count <= keys.count && place.key + count <= segment.keys) {  // usually all keys are of one segment
    KeyValue<T> from(rows, segment, place.key + row, inside ? chunk * 8 : 0);
#pragma unroll
    for (int i = 0; i < count / kStep; ++i) {
      copy(i, row + i * kStep, chunk, from, inside);
      from.k += kStep * segment.k_stride[1], from.v += kStep * segment.v_stride[1];
    }
    return;
  }
#pragma unroll 1
  for (int i = row; i < count; i += kStep) {
    const bool valid = inside && first + i < keys.count;
    const Place own(a, valid ? keys.row(first + i) : 0);
    const KeyValue<T> from(rows, a.segment[own.segment], own.key, valid ? chunk * 8 : 0);
    copy(i, chunk, from, valid);
  }
}

// Calls copy(row, chunk, q, valid) for `count` packed query rows, in the same way.
template <class T, int count, int chunks, int threads, class Copy>
__device__ inline void for_queries(const AttentionRows& rows, int first, int thread, Copy copy) {
  constexpr int kRowThreads = row_threads(chunks);
  const int chunk = thread % kRowThreads;
  if (chunk >= chunks) return;
#pragma unroll
  for (int row = thread / kRowThreads; row < count; row += threads / kRowThreads) {
    const bool valid = first + row < rows.count() && chunk * 8 < rows.a.width;
    copy(row, chunk, rows.q<T>(valid ? first + row : 0) + (valid ? chunk * 8 : 0), valid);
  }
}

// The largest score, and the sum of exp(score - largest), of the keys that one row has seen. A score of -inf is a key
// that does not exist; a row that has seen only such keys has a sum of 0.
struct Running {
  float largest = -INFINITY;
  float sum = 0.0f;

  // Takes in a new largest score; returns the factor for the earlier sums.
  __device__ float raise(float score) {
    const float before = largest;
    largest = fmaxf(before, score);
    const float factor = weight(before);
    sum *= factor;
    return factor;
  }
  __device__ float weight(float score) const {
    return fast_exp2((score - (largest == -INFINITY ? 0.0f : largest)) * kLog2E);
  }
};

// Returns the last factor of a row's sums of values. A row without any key has sums of 0, and keeps them.
__device__ inline float inverse_of_sum(float sum) { return sum == 0.0f ? 0.0f : fast_inverse(sum); }

// ---- the query rows of a lane, on fragments of scores: each has kFragmentColumns keys, from `first_key` on

// Loads the masks that are added to the scores; `mask` points to the rows' masks, or is null if there are none.
template <int n>
__device__ inline void load_bias(FragmentC (&bias)[n], const AttentionArguments& a,
                                 const float* const (&mask)[kLaneRows], int first_key) {
  if (!a.mask) return;
  const int key = first_key + fragment_column(lane());
  if (first_key + kFragmentColumns * n <= a.keys && a.mask_stride[3] == 1) {
#pragma unroll
    for (int j = 0; j < n; ++j)
#pragma unroll
      for (int i = 0; i < kLaneRows * kLaneColumns; ++i)
        bias[j].x[i] = mask[i / kLaneColumns][key + j * kFragmentColumns + i % kLaneColumns];
    return;
  }
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < kLaneRows * kLaneColumns; ++i) {
      const int own = min(key + j * kFragmentColumns + i % kLaneColumns, a.keys - 1);
      bias[j].x[i] = mask[i / kLaneColumns][own * a.mask_stride[3]];
    }
}
// Returns c tanh(s / c) to within 3e-7 c, of which scores of 16-bit queries and keys need less.
__device__ inline float capped(float score, float softcap) {
  return softcap - 2.0f * softcap * fast_inverse(1.0f + fast_exp2(score * (2.0f * kLog2E / softcap)));
}
template <int n>
__device__ inline void scale_and_mask(FragmentC (&scores)[n], const FragmentC (&bias)[n], const AttentionArguments& a,
                                      int first_key, int keys) {
  const bool whole = first_key + kFragmentColumns * n <= keys, caps = a.softcap != 0.0f;
  if (caps)
#pragma unroll
    for (FragmentC& s : scores)
#pragma unroll
      for (float& x : s.x) x = capped(x * a.scale, a.softcap);
  const float scale = caps ? 1.0f : a.scale;
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < kLaneRows * kLaneColumns; ++i) {
      scores[j].x[i] = scores[j].x[i] * scale + bias[j].x[i];
      if (!whole && first_key + j * kFragmentColumns + fragment_column(lane()) + i % kLaneColumns >= keys)
        scores[j].x[i] = -INFINITY;
    }
}
// Takes away the keys that a lane's rows, whose queries stand at these places, do not see. Its check stands apart from
// that of scale_and_mask(): clang 22 loses the store where || joins them.
template <int n>
__device__ inline void hide_unseen(FragmentC (&scores)[n], const AttentionSpan& span, const PresentKeys& keys,
                                   const int (&place)[kLaneRows], int first_key) {
  if (span.sees_all) return;
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < kLaneRows * kLaneColumns; ++i)
      if (!sees(span, keys, place[i / kLaneColumns],
                first_key + j * kFragmentColumns + fragment_column(lane()) + i % kLaneColumns))
        scores[j].x[i] = -INFINITY;
}
// Returns a weight as a row's sum counts it. In f16 it is the rounded one, by which products multiply values: the
// result is then a mean. Of six keys with values of one sign it lies within 0.78 units in the last place, not 0.9.
// Some machines round to bf16 in several instructions, so weights of bf16 are counted as they are.
template <class T>
__device__ inline float counted_weight(float weight) {
  return weight;
}
template <>
__device__ inline float counted_weight<f16>(float weight) {
  return to_float(from_float<f16>(weight));
}
// Turns scores into weights relative to the largest score so far; `factor` is for the earlier sums. The running sums
// are of this lane's keys only. T: the type of values.
template <class T, int n>
__device__ inline void soften(FragmentC (&scores)[n], Running (&running)[kLaneRows], float (&factor)[kLaneRows]) {
#pragma unroll
  for (int row = 0; row < kLaneRows; ++row) {
    float largest = -INFINITY, sum = 0.0f;
#pragma unroll
    for (const FragmentC& s : scores) largest = fmaxf(largest, lane_max(s, row));
    factor[row] = running[row].raise(row_max(largest));
#pragma unroll
    for (FragmentC& s : scores)
#pragma unroll
      for (int i = kLaneColumns * row; i < kLaneColumns * (row + 1); ++i)
        sum += s.x[i] = counted_weight<T>(running[row].weight(s.x[i]));
    running[row].sum += sum;
  }
}
template <int n>
__device__ inline void rescale(FragmentC (&sums)[n], const float (&factor)[kLaneRows]) {
  if (!any_lane(factor[0] != 1.0f || factor[kLaneRows - 1] != 1.0f)) return;
#pragma unroll
  for (FragmentC& s : sums)
#pragma unroll
    for (int i = 0; i < kLaneRows * kLaneColumns; ++i) s.x[i] *= factor[i / kLaneColumns];
}

}  // namespace rung::gpu
