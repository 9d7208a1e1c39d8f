// Attention for any element type and head width up to 256, in f32 without matrix instructions: the row for f32 models
// and shapes that no other row takes.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/attention_portable.hpp"
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {
namespace {

using Config = PortableAttentionConfig;
constexpr int kRows = Config::kRows / Config::kWarps;  // of one warp

// Keys or values of one block of kLanes keys, as f32. The pitch is an odd number of 16 bytes, so that lanes that read
// 16 bytes of their own rows meet no bank twice.
template <int D>
struct Tile {
  static constexpr int kPitch = D + 4;
  float x[kLanes][kPitch];
};

template <int D>
struct Shared {
  Tile<D> keys;
  Tile<D> values;
  float q[Config::kRows][D];
};

template <class T, int D>
__device__ void load_queries(Shared<D>& shared, const AttentionRows& rows, int first) {
  for (int row = warp(); row < Config::kRows; row += Config::kWarps) {
    const bool valid = first + row < rows.count();
    const T* from = rows.q<T>(valid ? first + row : 0);
#pragma unroll
    for (int d = lane(); d < D; d += kLanes)
      shared.q[row][d] = valid && d < rows.a.width ? to_float(from[d]) * rows.a.scale : 0.0f;
  }
}

template <class T, int D>
__device__ void load_keys(Shared<D>& shared, const AttentionRows& rows, int first) {
  for (int i = warp(); i < kLanes; i += Config::kWarps) {
    const bool valid = first + i < rows.a.keys;
    const Place place(rows.a, valid ? first + i : 0);
    const KeyValue<T> from(rows, rows.a.segment[place.segment], place.key, 0);
#pragma unroll
    for (int d = lane(); d < D; d += kLanes) {
      shared.keys.x[i][d] = valid && d < rows.a.width ? to_float(from.k[d]) : 0.0f;
      shared.values.x[i][d] = valid && d < rows.a.width ? to_float(from.v[d]) : 0.0f;
    }
  }
}

// This lane's key against each of the warp's rows.
template <int D>
__device__ void dot(const Shared<D>& shared, float (&scores)[kRows]) {
  for (float& score : scores) score = 0.0f;
#pragma unroll 4
  for (int d = 0; d < D; d += 4) {
    const float4 k = *reinterpret_cast<const float4*>(&shared.keys.x[lane()][d]);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float4 q = *reinterpret_cast<const float4*>(&shared.q[warp() * kRows + r][d]);
      scores[r] += q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w;
    }
  }
}

// sums[r][i]: column lane + i * kLanes of row r.
template <int D>
struct Sums {
  static constexpr int kColumns = D / kLanes;
  Running running[kRows];
  float x[kRows][kColumns] = {};

  // Turns scores into weights.
  __device__ void raise(float (&scores)[kRows]) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float factor = running[r].raise(lanes_max(scores[r]));
      scores[r] = running[r].weight(scores[r]);
      running[r].sum += lanes_sum(scores[r]);
#pragma unroll
      for (int i = 0; i < kColumns; ++i) x[r][i] *= factor;
    }
  }
  __device__ void add(const Shared<D>& shared, const float (&weights)[kRows]) {
#pragma unroll 4
    for (int key = 0; key < kLanes; ++key)
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float weight = shuffle(weights[r], key);
#pragma unroll
        for (int i = 0; i < kColumns; ++i) x[r][i] += weight * shared.values.x[key][lane() + i * kLanes];
      }
  }
};

template <Config config>
__device__ void attention(const AttentionArguments& a) {
  using T = Element<config.type>;
  constexpr int D = config.width;
  static_assert(sizeof(Shared<D>) == config.shared_bytes(kLanes));
  extern __shared__ __align__(16) unsigned char memory[];
  Shared<D>& shared = *reinterpret_cast<Shared<D>*>(memory);
  const AttentionRows rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)};
  const int first = static_cast<int>(blockIdx.x) * Config::kRows, mine = first + warp() * kRows;
  allow_dependents();
  wait_for_producers();
  load_queries<T>(shared, rows, first);
  Sums<D> sums;
  for (int key = 0; key < a.keys; key += kLanes) {
    sync_block();
    load_keys<T>(shared, rows, key);
    sync_block();
    float scores[kRows];
    dot(shared, scores);
    const bool exists = key + lane() < a.keys;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (a.mask && exists && mine + r < rows.count())
        scores[r] += rows.mask(mine + r)[(key + lane()) * a.mask_stride[3]];
      if (!exists) scores[r] = -INFINITY;
    }
    sums.raise(scores);
    sums.add(shared, scores);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float sum = sums.running[r].sum == 0.0f ? 1.0f : sums.running[r].sum;  // without a key: 0 / 1
    for (int i = 0; i < Sums<D>::kColumns; ++i)
      if (mine + r < rows.count() && lane() + i * kLanes < a.width)
        rows.out<T>(mine + r)[lane() + i * kLanes] = from_float<T>(sums.x[r][i] / sum);
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(Config::threads(kLanes)) \
      entry(const __grid_constant__ AttentionArguments a) { attention<Config{__VA_ARGS__}>(a); }
#include "kernels/gpu/attention/attention_portable.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
