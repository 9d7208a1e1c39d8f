// Attention for any element type and head width up to 256, in f32 without matrix instructions: the kernel for f32
// models and for shapes that no other row takes.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/attention_portable.hpp"
#include "kernels/gpu/attention/attention_result.cuh"
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {
namespace {

using Config = PortableAttentionConfig;

// A block's warps are cut into teams: kTeam lanes that take kTeam keys at a time, for the team's kRows rows.
template <Config config>
struct Cut {
  static constexpr int D = config.width, kTeam = config.team(kLanes), kRows = config.rows_of_team(kLanes);
  static_assert(kRows > 0 && kLanes % kTeam == 0 && D % kTeam == 0);
  __device__ static int first_lane() { return lane() / kTeam * kTeam; }
  __device__ static int own_lane() { return lane() % kTeam; }
  __device__ static int team() { return warp() * (kLanes / kTeam) + lane() / kTeam; }
};

// Keys or values of one run of keys, as f32. The pitch is an odd number of 16-byte units, so that lanes that read
// 16 bytes of their own rows meet no bank twice.
template <Config config>
struct Tile {
  static constexpr int kPitch = config.width + 4;
  float x[Cut<config>::kTeam][kPitch];
};

template <Config config>
struct Shared {
  Tile<config> keys;
  Tile<config> values;
  float q[Config::kRows][config.width];
};

template <class T, Config config>
__device__ void load_queries(Shared<config>& shared, const AttentionRows& rows, int first) {
  constexpr int D = config.width;
  for (int row = warp(); row < Config::kRows; row += Config::kWarps) {
    const bool valid = first + row < rows.count();
    const T* from = rows.q<T>(valid ? first + row : 0);
#pragma unroll
    for (int d = lane(); d < D; d += kLanes)
      shared.q[row][d] = valid && d < rows.a.width ? to_float(from[d]) * rows.a.scale : 0.0f;
  }
}

template <class K>
__device__ inline float key_element(const K* at) {
  if constexpr (sizeof(K) > 1)
    return to_float(*at);
  else
    return unpack_bytes<K>(*reinterpret_cast<const uint8_t*>(at)).x;
}

// K: the type of keys and values.
template <class K, Config config>
__device__ void load_keys(Shared<config>& shared, const AttentionRows& rows, const PresentKeys& keys, int first) {
  constexpr int D = config.width;
  for (int i = warp(); i < Cut<config>::kTeam; i += Config::kWarps) {
    const bool valid = first + i < keys.count;
    const Place place(rows.a, valid ? keys.row(first + i) : 0);
    const KeyValue<K> from(rows, rows.a.segment[place.segment], place.key, 0);
#pragma unroll
    for (int d = lane(); d < D; d += kLanes) {
      shared.keys.x[i][d] = valid && d < rows.a.width ? key_element(from.k + d) : 0.0f;
      shared.values.x[i][d] = valid && d < rows.a.width ? key_element(from.v + d) : 0.0f;
    }
  }
}

// Multiplies this lane's key by each of the team's rows.
template <Config config>
__device__ void dot(const Shared<config>& shared, float (&scores)[Cut<config>::kRows]) {
  using C = Cut<config>;
  for (float& score : scores) score = 0.0f;
#pragma unroll 4
  for (int d = 0; d < C::D; d += 4) {
    const float4 k = *reinterpret_cast<const float4*>(&shared.keys.x[C::own_lane()][d]);
#pragma unroll
    for (int r = 0; r < C::kRows; ++r) {
      const float4 q = *reinterpret_cast<const float4*>(&shared.q[C::team() * C::kRows + r][d]);
      scores[r] += q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w;
    }
  }
}

// A lane's sums: x[r][i] is column own lane + i * kTeam of row r.
template <Config config>
struct Sums {
  using C = Cut<config>;
  static constexpr int kTeam = C::kTeam, kRows = C::kRows, kColumns = C::D / kTeam;
  Running running[kRows];
  float x[kRows][kColumns] = {};

  // Turns scores into weights, and rescales the sums.
  __device__ void raise(float (&scores)[kRows]) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float factor = running[r].raise(lanes_max<kTeam>(scores[r]));
      scores[r] = running[r].weight(scores[r]);
      running[r].sum += lanes_sum<kTeam>(scores[r]);
#pragma unroll
      for (int i = 0; i < kColumns; ++i) x[r][i] *= factor;
    }
  }
  __device__ void add(const Shared<config>& shared, const float (&weights)[kRows]) {
#pragma unroll 4
    for (int key = 0; key < kTeam; ++key)
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float weight = shuffle(weights[r], C::first_lane() + key);
#pragma unroll
        for (int i = 0; i < kColumns; ++i) x[r][i] += weight * shared.values.x[key][C::own_lane() + i * kTeam];
      }
  }
};

template <Config config>
__device__ void attention(const AttentionArguments& a) {
  using T = Element<config.type>;
  using C = Cut<config>;
  constexpr int kTeam = C::kTeam, kRows = C::kRows;
  static_assert(sizeof(Shared<config>) == config.shared_bytes(kLanes));
  extern __shared__ __align__(16) unsigned char memory[];
  Shared<config>& shared = *reinterpret_cast<Shared<config>*>(memory);
  const AttentionRows rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)};
  const int first = static_cast<int>(blockIdx.x) * Config::kRows, mine = first + C::team() * kRows;
  PresentKeys keys(a);
  allow_dependents();
  wait_for_producers();
  load_queries<T>(shared, rows, first);
  keys.read_length(a);
  Sums<config> sums;
  const SeenKeys seen(a, keys, first, Config::kRows);
  for (int key = seen.begin / kTeam * kTeam; key < seen.end; key += kTeam) {
    sync_block();
    load_keys<Element<config.key_type>>(shared, rows, keys, key);
    sync_block();
    float scores[kRows];
    dot(shared, scores);
    const bool exists = key + C::own_lane() < keys.count;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (a.softcap != 0.0f)
        scores[r] = sizeof(T) == 4 ? a.softcap * tanhf(scores[r] / a.softcap) : capped(scores[r], a.softcap);
      if (a.mask && exists && mine + r < rows.count())
        scores[r] += rows.mask(mine + r)[(key + C::own_lane()) * a.mask_stride[3]];
      const int place = keys.place_of(query_of(a, mine + r));
      if (!exists || !(a.span.sees_all || sees(a.span, keys, place, key + C::own_lane())))
        scores[r] = -INFINITY;
    }
    sums.raise(scores);
    sums.add(shared, scores);
  }
  // The results of a team take its queries' place, so that their conversion stands in the code once.
  sync_block();
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float sum = sums.running[r].sum == 0.0f ? 1.0f : sums.running[r].sum;  // without a key: 0 / 1
#pragma unroll
    for (int i = 0; i < Sums<config>::kColumns; ++i)
      shared.q[C::team() * kRows + r][C::own_lane() + i * kTeam] = sums.x[r][i] / sum * a.factor;
  }
#pragma unroll 1
  for (int r = 0; r < kRows && mine + r < rows.count(); ++r)
#pragma unroll 1
    for (int d = C::own_lane(); d < a.width; d += kTeam)
      by_result_type<config.type>(a, [&](auto type) {
        constexpr DType kType = decltype(type)::value;
        store_one<kType>(rows.out<Element<kType>>(mine + r) + d, shared.q[C::team() * kRows + r][d]);
      });
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(Config::threads(kLanes)) \
      entry(const __grid_constant__ AttentionArguments a) { attention<Config{__VA_ARGS__}>(a); }
#include "kernels/gpu/attention/attention_portable.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
