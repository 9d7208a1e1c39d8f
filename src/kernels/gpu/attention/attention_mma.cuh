// Attention with matrix instructions: a warp keeps 16 query rows, its sums and a running softmax in registers while
// keys and values pass through shared memory. Several warps may share the rows and split the keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/attention_mma.hpp"
#include "kernels/gpu/quantize/byte_elements.cuh"

namespace rung::gpu {

// A thread's copies of eight elements of 8 bits each, which registers hold until they are widened into their places.
template <class T, int count>
class WideningCopies {
 public:
  __device__ static void issue(void* to, const void* from, bool valid) {
    *static_cast<uint4*>(to) = widened(valid ? *static_cast<const uint2*>(from) : uint2{});
  }
  // `at`: the place in shared memory, in elements of T.
  __device__ void issue(int i, int at, const void* from, bool valid) {
    at_[i] = at, held_[i] = valid ? *static_cast<const uint2*>(from) : uint2{}, holds_ = true;
  }
  __device__ static void end() { CopyGroup<0>::end(); }
  __device__ void put(T* shared) const {
    if (!holds_) return;
#pragma unroll
    for (int i = 0; i < count; ++i) *reinterpret_cast<uint4*>(shared + at_[i]) = widened(held_[i]);
  }

 private:
  __device__ static uint4 widened(const uint2& bytes) {
    const float4 low = unpack_bytes<f8e4m3>(bytes.x), high = unpack_bytes<f8e4m3>(bytes.y);
    return make_uint4(pack<T>(low.x, low.y), pack<T>(low.z, low.w), pack<T>(high.x, high.y), pack<T>(high.z, high.w));
  }
  int at_[count] = {};
  uint2 held_[count] = {};
  bool holds_ = false;
};

template <MmaAttentionConfig config>
struct MmaAttention {
  using T = Element<config.type>;
  using K = Element<config.key_type>;
  static constexpr bool kWidens = config.key_type != config.type;
  static constexpr int kRows = config.rows(), kThreads = config.threads(kLanes), kPitch = config.pitch();
  static constexpr int kBlockKeys = config.keys(), kKeys = kBlockKeys / config.key_warps;  // of a block; of one warp
  static constexpr int kChunks = config.width / 8;                                        // 16 bytes each
  static constexpr int kSteps = config.width / 16;
  static constexpr bool kKeepQueries = config.width <= 128;  // in registers; wider ones are read again for each block
  static constexpr int kThreadKeys = keys_of_a_thread(kBlockKeys, kChunks, kThreads);
  using KeyCopies = std::conditional_t<kWidens, WideningCopies<T, 2 * kThreadKeys>, CopyGroup<2 * kThreadKeys>>;

  const AttentionRows rows;
  const int first_row;  // of the block
  T* const shared;
  FragmentC sums[config.width / kFragmentColumns];
  Running running[kLaneRows];  // of this lane's rows
  FragmentA queries[kKeepQueries ? kSteps : 1];
  const float* mask[kLaneRows] = {};
  PresentKeys there;
  int place[kLaneRows];  // of those rows' queries

  __device__ MmaAttention(const AttentionArguments& a, T* memory)
      : rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)},
        first_row(static_cast<int>(blockIdx.x) * kRows),
        shared(memory),
        there(a) {
    for (int row = 0; row < kLaneRows; ++row) {
      const int own = min(first_row + row_warp() * 16 + row * kRowStep + fragment_row(lane()), rows.count() - 1);
      place[row] = query_of(a, own);
      if (a.mask) mask[row] = rows.mask(own);
    }
  }
  // Reads how many keys there are: producers must have been waited for.
  __device__ void read_length() {
    there.read_length(rows.a);
    for (int& each : place) each = there.place_of(each);
  }
  __device__ static int row_warp() { return warp() % config.row_warps; }
  __device__ static int key_warp() { return warp() / config.row_warps; }
  __device__ T* my_queries() const { return shared + row_warp() * 16 * kPitch; }
  __device__ T* keys(int block) const { return shared + (kRows + block % 2 * 2 * kBlockKeys) * kPitch; }
  __device__ T* values(int block) const { return keys(block) + kBlockKeys * kPitch; }

  __device__ void load_queries() const {
    for_queries<T, kRows, kChunks, kThreads>(rows, first_row, threadIdx.x,
                                             [&](int row, int chunk, const T* from, bool valid) {
                                               CopyGroup<0>::issue(shared + row * kPitch + chunk * 8, from, valid);
                                             });
  }
  struct CopyKeys {
    KeyCopies& copies;
    T* const shared;
    T *const k, *const v;
    __device__ auto place(T* to) const {
      if constexpr (kWidens)
        return static_cast<int>(to - shared);
      else
        return to;
    }
    __device__ void operator()(int i, int key, int chunk, const KeyValue<K>& from, bool valid) const {
      copies.issue(2 * i, place(k + key * kPitch + chunk * 8), from.k, valid);
      copies.issue(2 * i + 1, place(v + key * kPitch + chunk * 8), from.v, valid);
    }
    __device__ void operator()(int key, int chunk, const KeyValue<K>& from, bool valid) const {
      copies.issue(k + key * kPitch + chunk * 8, from.k, valid);
      copies.issue(v + key * kPitch + chunk * 8, from.v, valid);
    }
  };
  __device__ void load_block(KeyCopies& copies, int block) const {
    for_keys<K, kBlockKeys, kChunks, kThreads>(rows, there, block * kBlockKeys, threadIdx.x,
                                               CopyKeys{copies, shared, keys(block), values(block)});
  }
  __device__ void put(const KeyCopies& copies) const {
    if constexpr (kWidens)
      copies.put(shared);
    else
      copies.put();
  }
  __device__ void keep_queries() {
    if constexpr (kKeepQueries)
#pragma unroll
      for (int step = 0; step < kSteps; ++step) queries[step] = load_a(my_queries() + step * 16, kPitch);
  }

  // Computes the scores of this warp's keys of the block, before scale and mask.
  __device__ void dot(FragmentC (&scores)[kKeys / kFragmentColumns], int block) const {
    const T* from = keys(block) + key_warp() * kKeys * kPitch;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const FragmentA q = kKeepQueries ? queries[step] : load_a(my_queries() + step * 16, kPitch);
#pragma unroll
      for (int j = 0; j < kKeys / 16; ++j) {
        FragmentB b[kFragmentsOf16];
        load_b_by_columns(b, from + j * 16 * kPitch + step * 16, kPitch);
        multiply_add_16<T>(scores + kFragmentsOf16 * j, q, b);
      }
    }
  }
  __device__ void add_values(const FragmentC (&weights)[kKeys / kFragmentColumns], int block) {
    const T* from = values(block) + key_warp() * kKeys * kPitch;
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {
      const FragmentA a = a_from_c<T>(weights + kFragmentsOf16 * j);
#pragma unroll
      for (int d = 0; d < config.width / 16; ++d) {
        FragmentB b[kFragmentsOf16];
        load_b_by_rows(b, from + j * 16 * kPitch + d * 16, kPitch);
        multiply_add_16<T>(sums + kFragmentsOf16 * d, a, b);
      }
    }
  }
  __device__ void step(int block) {
    const int first_key = block * kBlockKeys + key_warp() * kKeys;
    if (first_key >= there.count) return;
    FragmentC scores[kKeys / kFragmentColumns], bias[kKeys / kFragmentColumns];
    float factor[kLaneRows];
    load_bias(bias, rows.a, mask, first_key);
    dot(scores, block);
    scale_and_mask(scores, bias, rows.a, first_key, there.count);
    hide_unseen(scores, rows.a.span, there, place, first_key);
    soften<T>(scores, running, factor);
    rescale(sums, factor);
    add_values(scores, block);
  }

  // ---- blocks of keys: the queries arrive with the first one

  // Fetches a block while the one before it is multiplied: copies that registers hold are put behind it.
  __device__ void pass_keys(int begin, int end) {
    KeyCopies first;
    load_queries();
    load_block(first, begin);
    first.end();
    put(first);
    for (int block = begin; block < end; ++block) {
      wait_for_groups<0>();
      sync_block();
      KeyCopies next;
      if (block + 1 < end) load_block(next, block + 1);
      next.end();
      if (block == begin) keep_queries();
      step(block);
      put(next);
    }
  }
  // Has two blocks under way where the machine copies by itself: short rows of keys then wait for memory once.
  __device__ void pass_keys_two_ahead(int begin, int end) {
    KeyCopies copies;
    load_queries();
    load_block(copies, begin);
    copies.end();
    if (begin + 1 < end) load_block(copies, begin + 1);
    copies.end();
    for (int block = begin; block < end; ++block) {
      wait_for_groups<1>();  // all but the latest group have landed
      sync_block();
      if (block == begin) keep_queries();
      step(block);
      if (block + 2 < end) {
        sync_block();  // no warp reads this block any more
        load_block(copies, block + 2);
      }
      copies.end();
    }
  }

  // Stores the sums of a warp that has all keys through its queries' place in shared memory, to write whole lines.
  __device__ void store() {
    T* to = my_queries();
    sync_warp();  // no lane reads queries any more
#pragma unroll
    for (int row = 0; row < kLaneRows; ++row) {
      const float factor = inverse_of_sum(running[row].sum);
#pragma unroll
      for (int j = 0; j < config.width / kFragmentColumns; ++j)
        store_row(to + (row * kRowStep + fragment_row(lane())) * kPitch + j * kFragmentColumns, sums[j], row, factor);
    }
    sync_warp();
#pragma unroll 4
    for (int i = lane(); i < 16 * kChunks; i += kLanes) {
      const int row = i / kChunks, d = i % kChunks * 8, packed = first_row + row_warp() * 16 + row;
      if (packed < rows.count() && d < rows.a.width)
        *reinterpret_cast<uint4*>(rows.out<T>(packed) + d) = *reinterpret_cast<const uint4*>(to + row * kPitch + d);
    }
  }

  // Adds the key warps' sums in shared memory, in the warps' order.
  __device__ void combine() {
    float* all = reinterpret_cast<float*>(shared);
    Running* statistics = reinterpret_cast<Running*>(all + config.key_warps * kRows * kPitch);
    sync_block();
#pragma unroll
    for (int own = 0; own < kLaneRows; ++own) {
      const int row = key_warp() * kRows + row_warp() * 16 + own * kRowStep + fragment_row(lane());
      if (leads_row(lane())) statistics[row] = running[own];
#pragma unroll
      for (int j = 0; j < config.width / kFragmentColumns; ++j)
        store_row(all + row * kPitch + j * kFragmentColumns, sums[j], own);
    }
    sync_block();
    for (int i = threadIdx.x; i < kRows * kChunks; i += kThreads) {
      const int row = i / kChunks, d = i % kChunks * 8;
      if (first_row + row < rows.count() && d < rows.a.width) combine(all, statistics, row, d);
    }
  }
  __device__ void combine(const float* all, const Running* statistics, int row, int d) const {
    Running total;
#pragma unroll
    for (int w = 0; w < config.key_warps; ++w) total.raise(statistics[w * kRows + row].largest);
    float x[8] = {};
#pragma unroll
    for (int w = 0; w < config.key_warps; ++w) {
      const Running one = statistics[w * kRows + row];
      const float weight = total.weight(one.largest);
      total.sum += one.sum * weight;
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] += weight * all[(w * kRows + row) * kPitch + d + i];
    }
    const float factor = inverse_of_sum(total.sum);
    *reinterpret_cast<uint4*>(rows.out<T>(first_row + row) + d) =
        make_uint4(pack<T>(x[0] * factor, x[1] * factor), pack<T>(x[2] * factor, x[3] * factor),
                   pack<T>(x[4] * factor, x[5] * factor), pack<T>(x[6] * factor, x[7] * factor));
  }
};

template <MmaAttentionConfig config>
__device__ inline void attention_mma(const AttentionArguments& a) {
  extern __shared__ __align__(16) unsigned char memory[];
  using Work = MmaAttention<config>;
  Work work(a, reinterpret_cast<typename Work::T*>(memory));
  allow_dependents();
  wait_for_producers();
  work.read_length();
  const SeenKeys seen(a, work.there, work.first_row, Work::kRows);
  const int begin = min(seen.begin, work.there.count - 1) / Work::kBlockKeys;
  const int end = max((seen.end + Work::kBlockKeys - 1) / Work::kBlockKeys, begin + 1);  // queries are always awaited
  if constexpr (std::is_empty_v<typename Work::KeyCopies>)
    work.pass_keys_two_ahead(begin, end);
  else
    work.pass_keys(begin, end);
#pragma unroll
  for (Running& row : work.running) row.sum = row_sum(row.sum);
  if constexpr (config.key_warps == 1)
    work.store();
  else
    work.combine();
}

}  // namespace rung::gpu
