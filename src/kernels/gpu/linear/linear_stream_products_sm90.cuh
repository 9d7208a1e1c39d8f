// Products of streamed layers: eight warps share the K of each tile of eight rows of w.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/group_pairs_sm90.cuh"
#include "kernels/gpu/linear/linear_stream_block_sm90.cuh"

namespace rung::gpu {

// Products are of the type of x, or of f16 where values of w have 8 or 4 bits: conversions to it are instructions.
template <StreamConfig config>
using StreamProduct = Element<config.widens() ? DType::f16 : config.x>;

// A warp takes every kWarps-th chunk of K.
template <StreamConfig config>
struct StreamProducts : StreamBlock<config> {
  using Block = StreamBlock<config>;
  using Block::a, Block::shared, Block::first_tile, Block::end_tile, Block::pieces, Block::full, Block::empty,
      Block::sums_full, Block::sums_free, Block::x, Block::ring, Block::groups, Block::kWarps, Block::sums_of;
  using Block::Block;
  using X = Element<config.x>;
  using T = StreamProduct<config>;
  static constexpr bool kWidens = config.widens();
  static constexpr bool k4Bits = config.has_4_bits(), kGroupsOf8Bits = config.grouped && config.has_8_bits();
  static constexpr uint32_t kChunkX = config.chunk_x(), kChunkScales = config.chunk_scales();

  // The factors of this warp's sums of two tokens.
  struct Factors {
    float of[2];
  };
  // Copies this warp's chunks of x to shared memory, in their order, and in that of the rows in each.
  __device__ Factors load_x() const {
    Factors factors{{1.0f, 1.0f}};
#pragma unroll 1
    for (uint32_t token = 0; token < a.m; ++token) {
      const float largest = load_row(token);
      if constexpr (!kWidens) continue;
      sync_warp();
      const float scale = scale_to_f16(lanes_max(largest));
      convert_row(token, scale);
#pragma unroll
      for (uint32_t i = 0; i < 2; ++i)
        if (token == lane() % 4 * 2 + i) factors.of[i] = 1.0f / scale;
    }
    sync_warp();
    return factors;
  }
  static constexpr uint32_t kUnits = kChunkX / 16;
  // Returns the shared address of the i-th 16 bytes of a row that this warp takes.
  __device__ uint32_t unit_at(uint32_t token, uint32_t i) const {
    const uint32_t place = k4Bits ? place_for_nibbles(i % kUnits) : i % kUnits;
    return x + ((i / kUnits * a.m + token) * kUnits + place) * 16;
  }
  __device__ uint32_t units() const { return (a.chunks + kWarps - 1 - warp()) / kWarps * kUnits; }
  // Returns the largest number of the row, or infinity or NaN, of which this lane has seen a part, if it is asked for.
  __device__ float load_row(uint32_t token) const {
    constexpr uint32_t kTogether = 4;
    uint32_t largest = 0;
#pragma unroll 1
    for (uint32_t first = lane(); first < units(); first += kTogether * kLanes) {
      uint4 v[kTogether] = {};
#pragma unroll
      for (uint32_t j = 0; j < kTogether; ++j) {
        const uint32_t i = first + j * kLanes, at = (i / kUnits * kWarps + warp()) * kChunkX + i % kUnits * 16;
        if (i < units()) v[j] = *in_memory<const uint4>(a.x + uint64_t{token} * a.x_stride + at);
      }
#pragma unroll
      for (uint32_t j = 0; j < kTogether; ++j) {
        if (first + j * kLanes < units())
          store_shared(unit_at(token, first + j * kLanes), {v[j].x, v[j].y, v[j].z, v[j].w});
        if constexpr (kWidens) largest = max(max(largest, larger_of(v[j].x, v[j].y)), larger_of(v[j].z, v[j].w));
      }
    }
    return unpack<X>(largest).x;
  }
  __device__ void convert_row(uint32_t token, float scale) const {
#pragma unroll 1
    for (uint32_t i = lane(); i < units(); i += kLanes) {
      const auto v = load_shared<uint4>(unit_at(token, i));
      uint4 to{scaled_to_f16<X>(v.x, scale), scaled_to_f16<X>(v.y, scale), scaled_to_f16<X>(v.z, scale),
               scaled_to_f16<X>(v.w, scale)};
      if constexpr (k4Bits) to = in_order_of_nibbles(to);
      store_shared(unit_at(token, i), {to.x, to.y, to.z, to.w});
    }
  }

  // A lane's place in the products: shared addresses in the first chunk.
  struct Lane : StreamLane {
    bool is_token;
    uint32_t w[2], x[2];  // of units `quarter` and `quarter` + 4, or of the lane's parts of groups 0 and 2 of 8 bits
    uint32_t groups;      // of its groups' scales
  };
  __device__ Lane own_lane() const {
    const uint32_t column = lane() / 4 % kStreamTokens, token = config.grouped ? min(column, a.m - 1) : column;
    Lane own{StreamLane(config, lane()), config.grouped || token < a.m};
    const uint32_t row = ring + warp() * kStreamChunkRows + own.row * kStreamChunkBytes;
    const uint32_t by = x + token * kChunkX + lane() / 16 * 8;
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t unit = kGroupsOf8Bits ? own.quarter / 2 + 4 * i : own.quarter + 4 * i;
      own.w[i] = row + (unit ^ own.row) * 16 + (kGroupsOf8Bits ? own.quarter % 2 * 8 : 0);
      if constexpr (k4Bits)
        own.x[i] = by + (own.quarter ^ 2 * i) * 16;
      else
        own.x[i] = by + (kGroupsOf8Bits ? own.quarter * 16 + i * (kChunkX / 2) : unit * (kChunkX / 8));
      asm volatile("" : "+r"(own.w[i]), "+r"(own.x[i]));  // or the compiler computes them again for each piece
    }
    own.groups = groups + warp() * kChunkScales + (k4Bits ? lane() * 2 : own.row * 4);
    if (config.grouped) asm volatile("" : "+r"(own.groups));
    return own;
  }
  // A lane's part of a chunk.
  struct Weights {
    uint4 of[2];
    uint32_t scales, offsets;  // of its groups
  };
  __device__ Weights weights_at(const Lane& own, uint32_t stage, uint32_t chunk) const {
    Weights w;
#pragma unroll
    for (uint32_t j = 0; j < 2; ++j) {
      const uint32_t from = own.w[j] + stage * kStreamStageBytes + chunk * kStreamChunkRows;
      if constexpr (kGroupsOf8Bits) {
        const auto first = load_shared<uint2>(from), second = load_shared<uint2>(from ^ 32);
        w.of[j] = {first.x, first.y, second.x, second.y};
      } else {
        w.of[j] = load_shared<uint4>(from);
      }
    }
    const uint32_t from = own.groups + stage * config.stage_groups() + chunk * kChunkScales;
    if constexpr (kGroupsOf8Bits) w.scales = load_shared<uint32_t>(from);
    if constexpr (k4Bits) {
      w.scales = load_shared<uint16_t>(from);
      w.offsets = load_shared<uint16_t>(from + config.stage_scales());
    }
    return w;
  }

  // A product has the first eight elements of a lane's weights in the upper rows of its left operand, by the columns
  // of x for them in the left half of the right operand; and the second eight, of the same rows of w, in the lower
  // rows, by their columns of x in the right half. The other two quarters of the result mean nothing.
  static __device__ void add(FragmentC& sums, const TwoPairs& upper, const TwoPairs& lower, uint32_t x_at,
                             bool is_token) {
    const uint2 by = is_token ? load_two(x_at) : uint2{};
    multiply_add<T>(sums, {{upper.low, lower.low, upper.high, lower.high}}, {{by.x, by.y}});
  }
  static __device__ TwoPairs widened(uint32_t word) {
    return config.w == DType::i8 ? widen_i8(word) : widen_e4m3(word);
  }
  static __device__ void add_half(FragmentC& sums, const Weights& weights, uint32_t j, const Lane& own, uint32_t x_at) {
    const uint4& w = weights.of[j];
    const uint32_t from = own.x[j] + x_at;
    if constexpr (k4Bits) {
      add_nibbles(sums, weights, j, own, x_at);
    } else if constexpr (kGroupsOf8Bits) {
      add_group(sums, {w.x, w.y}, scale_in(weights.scales, 2 * j), from, own.is_token);
      add_group(sums, {w.z, w.w}, scale_in(weights.scales, 2 * j + 1), from + kChunkX / 4, own.is_token);
    } else if constexpr (kWidens) {
      add(sums, widened(w.x), widened(w.y), from, own.is_token);
      add(sums, widened(w.z), widened(w.w), from + 16, own.is_token);
    } else {
      add(sums, {w.x, w.y}, {w.z, w.w}, from, own.is_token);
    }
  }
  // Adds a group of 32 numbers of 4 bits, in the order that place_for_nibbles() gives x.
  static __device__ void add_nibbles(FragmentC& sums, const Weights& weights, uint32_t j, const Lane& own,
                                     uint32_t x_at) {
    const NibbleLine line = nibble_line(weights.scales, weights.offsets, j);
    const uint32_t words[] = {weights.of[j].x, weights.of[j].y, weights.of[j].z, weights.of[j].w};
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      const FourPairs pairs = widen_nibbles(words[i], line);
      add(sums, pairs.first, pairs.second, own.x[i % 2] + x_at + i * (kChunkX / 4) + (j ^ i / 2) * (kChunkX / 8),
          own.is_token);
    }
  }
  // Adds the sum over a group of 32 numbers of 8 bits, of which the lane has eight, times the scale of the lane's row.
  // Products of scales and numbers would not fit f16.
  static __device__ void add_group(FragmentC& sums, uint2 w, float scale, uint32_t x_at, bool is_token) {
    FragmentC group = {};
    add(group, widened(w.x), widened(w.y), x_at, is_token);
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) sums.x[i] = fmaf(scale, group.x[i], sums.x[i]);
  }

  __device__ void multiply(const Factors& factors, StreamProgress& progress) const {
    constexpr uint32_t kOwn = kStreamChunks / kWarps;
    const Lane own = own_lane();
#pragma unroll 1
    for (uint32_t tile = first_tile; tile < end_tile; ++tile) {
      FragmentC sums[2] = {};
      uint32_t x_at = 0, left = a.chunks;
#pragma unroll 1
      for (uint32_t piece = 0; piece < pieces; ++piece, left -= kStreamChunks, progress.at.advance(a.stages)) {
        const Place at = progress.at;
        barrier_wait(full + 8 * at.stage, at.parity);
        Weights w[kOwn];
#pragma unroll
        for (uint32_t i = 0; i < kOwn; ++i) w[i] = weights_at(own, at.stage, i * kWarps);
#pragma unroll
        for (uint32_t i = 0; i < kOwn; ++i, x_at += a.m * kChunkX)
#pragma unroll
          for (uint32_t j = 0; j < 2; ++j)
            if (warp() + i * kWarps < left) add_half(sums[j], w[i], j, own, x_at);
        sync_warp();
        if (lane() == 0) barrier_arrive(empty + 8 * at.stage);
      }
      keep(sums, own, factors, progress.count + tile - first_tile, tile + 1 == end_tile);
    }
    progress.count = this->count_after(progress.count);
  }
  // Leaves this warp's sums of a tile, the launch's count-th, to the warp that finishes it.
  __device__ void keep(const FragmentC (&sums)[2], const Lane& own, const Factors& factors, uint32_t count,
                       bool last) const {
    const uint32_t group = count / shared.group(), parity = group % 2, in_group = count % shared.group();
    float v[2];
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      v[i] = own.quarter < 2 ? sums[0].x[i] + sums[1].x[i] : sums[0].x[2 + i] + sums[1].x[2 + i];
      v[i] += shuffle_xor(v[i], 2);
      if constexpr (kWidens) v[i] *= factors.of[i];
    }
    if (in_group == 0 && group >= 2) barrier_wait(sums_free + 8 * parity, (group / 2 - 1) & 1);
    const uint32_t token = own.quarter * 2, to = sums_of(count, warp(), token) + own.row * 4;
    if (token < a.m) store_shared(to, v[0]);
    if (token + 1 < a.m) store_shared(to + kStreamRows * 4, v[1]);
    if (in_group + 1 < shared.group() && !last) return;
    sync_warp();
    if (lane() == 0) barrier_arrive(sums_full + 8 * parity);
  }
};

}  // namespace rung::gpu
