// Linear layers of one to four tokens on Hopper, bound by the reading of their weights: a warp keeps a ring in shared
// memory full of them, from before the producers of x have ended on; eight warps share the K of a tile of eight rows,
// and another one adds up their sums while they go on to the next tile.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/group_pairs_sm90.cuh"
#include "kernels/gpu/linear/linear_ends.cuh"
#include "kernels/gpu/linear/linear_stream_arguments.hpp"
#include "kernels/gpu/linear/narrow_gelu.cuh"
#include "kernels/gpu/sm90/bulk_copy.cuh"
#include "kernels/gpu/sm90/shared_memory.cuh"

namespace rung::gpu {
namespace {

constexpr uint32_t kWarps = kStreamMultipliers;

// A walk round a ring of barriers, whose phases alternate.
struct Place {
  uint32_t stage = 0, parity = 0;
  __device__ void advance(uint32_t stages) {
    if (++stage == stages) stage = 0, parity ^= 1;
  }
};

// Products are of the type of x, or of f16 where values of w have 8 or 4 bits: conversions to it are instructions.
template <StreamConfig config>
using StreamProduct = Element<config.widens() ? DType::f16 : config.x>;

template <StreamConfig config>
struct Stream {
  using X = Element<config.x>;
  using T = StreamProduct<config>;
  static constexpr bool kWidens = config.widens(), kPairs = config.pairs();
  static constexpr bool k4Bits = config.has_4_bits(), kGroupsOf8Bits = config.grouped && config.has_8_bits();
  static constexpr uint32_t kColumns = kPairs ? kStreamRows / 2 : kStreamRows;  // of out in a tile
  static constexpr uint32_t kChunkX = config.chunk_x(), kChunkScales = config.chunk_scales();

  const LinearStreamArguments& a;
  const StreamShared shared;
  uint32_t first_tile, end_tile, pieces;
  uint32_t full, empty, sums_full, sums_free;  // shared addresses of barriers
  uint32_t all_sums, x, ring, groups;          // shared addresses

  __device__ Stream(const LinearStreamArguments& arguments, uint32_t memory)
      : a(arguments), shared{arguments.chunks, arguments.m, config} {
    first_tile = static_cast<uint32_t>(uint64_t{blockIdx.x} * a.tiles / gridDim.x);
    end_tile = static_cast<uint32_t>(uint64_t{blockIdx.x + 1} * a.tiles / gridDim.x);
    pieces = (a.chunks + kStreamChunks - 1) / kStreamChunks;
    full = memory, empty = full + 8 * kStreamMostStages;
    sums_full = empty + 8 * kStreamMostStages, sums_free = sums_full + 16;
    static_assert(16 * kStreamMostStages + 32 <= StreamShared::kHeaderBytes);
    all_sums = memory + StreamShared::kHeaderBytes;
    x = all_sums + shared.bytes_of_all_sums() + warp() * shared.x_bytes_of_warp();
    ring = memory + shared.ring(), groups = memory + shared.groups(a.stages);
  }

  __device__ void init_barriers() const {  // by one warp
    if (lane() < a.stages) barrier_init(full + 8 * lane(), 1), barrier_init(empty + 8 * lane(), kWarps);
    if (lane() < 2) barrier_init(sums_full + 8 * lane(), kWarps), barrier_init(sums_free + 8 * lane(), 1);
    barrier_init_fence();
  }
  __device__ uint32_t column_of(uint32_t tile) const { return stream_column(config, a.end.half, tile); }

  // ---- weights, by one lane

  // A walk over the pieces of this block's tiles.
  struct Piece {
    uint32_t tile, index = 0;
    __device__ void advance(uint32_t pieces) {
      if (++index == pieces) index = 0, ++tile;
    }
  };
  // Fills the ring, and then fetches a piece whenever a stage is free. While the ring fills, the launch before is still
  // at work, and a burst would hold up its loads.
  __device__ void fetch() const {
    Piece next{first_tile};
#pragma unroll 1
    for (uint32_t stage = 0; stage < a.stages && next.tile < end_tile; ++stage, next.advance(pieces)) {
      if (stage > 0 && a.throttle_ns > 0) pause_ns(a.throttle_ns);
      fetch(next, stage);
    }
#pragma unroll 1
    for (Place at; next.tile < end_tile; next.advance(pieces), at.advance(a.stages)) {
      barrier_wait(empty + 8 * at.stage, at.parity);
      fetch(next, at.stage);
    }
  }
  __device__ void fetch(const Piece& piece, uint32_t stage) const {
    const uint32_t barrier = full + 8 * stage;
    const int at[TileShape::kRank] = {0, static_cast<int>(column_of(piece.tile)), 0,
                                      static_cast<int>(piece.index * kStreamChunks), 0};
    const GroupBytes own = group_bytes(piece);
    barrier_expect(barrier, kStreamStageBytes + (k4Bits ? 2 : 1) * own.count);
    load_box({ring + stage * kStreamStageBytes, barrier}, a.w, at);
    if constexpr (config.grouped) {
      const uint32_t to = groups + stage * config.stage_groups();
      load_bytes({to, barrier}, a.group_scale + own.first, own.count);
      if constexpr (k4Bits) load_bytes({to + config.stage_scales(), barrier}, a.group_offset + own.first, own.count);
    }
  }
  // The bytes of a piece's scales, and of its offsets.
  struct GroupBytes {
    uint64_t first;
    uint32_t count;
  };
  __device__ GroupBytes group_bytes(const Piece& piece) const {
    if constexpr (!config.grouped) return {0, 0};
    const uint32_t chunk = piece.index * kStreamChunks;
    return {(uint64_t{piece.tile} * a.chunks + chunk) * kChunkScales,
            min(a.chunks - chunk, kStreamChunks) * kChunkScales};
  }

  // ---- products: a warp takes every kWarps-th chunk of K

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

  __device__ void multiply(const Factors& factors) const {
    constexpr uint32_t kOwn = kStreamChunks / kWarps;
    const Lane own = own_lane();
    Place at;
#pragma unroll 1
    for (uint32_t tile = first_tile; tile < end_tile; ++tile) {
      FragmentC sums[2] = {};
      uint32_t x_at = 0, left = a.chunks;
#pragma unroll 1
      for (uint32_t piece = 0; piece < pieces; ++piece, left -= kStreamChunks, at.advance(a.stages)) {
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
      keep(sums, own, factors, tile - first_tile);
    }
  }
  // Leaves this warp's sums of a tile, this block's index-th, to the warp that finishes it.
  __device__ void keep(const FragmentC (&sums)[2], const Lane& own, const Factors& factors, uint32_t index) const {
    const uint32_t group = index / shared.group(), parity = group % 2, in_group = index % shared.group();
    float v[2];
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      v[i] = own.quarter < 2 ? sums[0].x[i] + sums[1].x[i] : sums[0].x[2 + i] + sums[1].x[2 + i];
      v[i] += shuffle_xor(v[i], 2);
      if constexpr (kWidens) v[i] *= factors.of[i];
    }
    if (in_group == 0 && group >= 2) barrier_wait(sums_free + 8 * parity, (group / 2 - 1) & 1);
    const uint32_t token = own.quarter * 2, to = sums_of(index, warp(), token) + own.row * 4;
    if (token < a.m) store_shared(to, v[0]);
    if (token + 1 < a.m) store_shared(to + kStreamRows * 4, v[1]);
    if (in_group + 1 < shared.group() && first_tile + index + 1 < end_tile) return;
    sync_warp();
    if (lane() == 0) barrier_arrive(sums_full + 8 * parity);
  }
  __device__ uint32_t sums_of(uint32_t index, uint32_t of_warp, uint32_t token) const {
    const uint32_t slot = index % (2 * shared.group());
    return all_sums + slot * shared.bytes_of_sums() + (of_warp * a.m + token) * kStreamRows * 4;
  }

  // ---- results, by one warp: a lane finishes four neighbouring columns of a token, and with them their partners, of a
  // tile of each group

  struct Own {
    uint32_t in_group, token, quad;
  };
  __device__ Own own() const {
    constexpr uint32_t kQuads = kColumns / 4;
    return {lane() / (kQuads * a.m), lane() / kQuads % a.m, lane() % kQuads};
  }
  // Returns the factor of the norm in a lane's row.
  __device__ float factor_of(const Own& mine) const {
    float factor = 1.0f;
#pragma unroll 1
    for (uint32_t token = 0; a.begin.squares && token < a.m; ++token)
      if (const float of = factor_of(token); token == mine.token) factor = of;
    return factor;
  }
  __device__ float factor_of(uint32_t token) const {
    constexpr uint32_t kTogether = 4;
    const auto* squares = reinterpret_cast<const float4*>(a.begin.squares) + token * a.begin.squares_stride;
    float total = 0;
#pragma unroll 1
    for (uint32_t i = lane(); i < a.begin.squares_vectors; i += kTogether * kLanes) {
      float4 v[kTogether];
#pragma unroll
      for (uint32_t j = 0; j < kTogether; ++j)
        v[j] = i + j * kLanes < a.begin.squares_vectors ? squares[i + j * kLanes] : float4{};
#pragma unroll
      for (uint32_t j = 0; j < kTogether; ++j) total += sum_of(v[j]);
    }
    return rsqrtf(lanes_sum(total) * a.begin.squares_share + a.begin.eps);
  }
  __device__ float4 sum(uint32_t index, uint32_t token, uint32_t quad) const {
    float4 v[kWarps];
#pragma unroll
    for (uint32_t i = 0; i < kWarps; ++i) v[i] = load_shared<float4>(sums_of(index, i, token) + quad * 16);
#pragma unroll
    for (uint32_t i = 1; i < kWarps; ++i) v[0] = v[0] + v[i];
    return v[0];
  }
  // The operands of a tile's results beside its sums, of four columns and their partners.
  struct Ends {
    float4 bias, scale, partner_bias, partner_scale, residual, norm_weight;
    Angles angles;
  };
  __device__ float4 scale_at(uint32_t column) const {
    if constexpr (kWidens) return load4(a.end.w_scale, DType::f32, column);
    return {};
  }
  __device__ Ends ends_at(const Own& mine, uint32_t column) const {
    Ends ends{load_bias(a.end, column), scale_at(column)};
    if constexpr (kPairs)
      ends.partner_bias = load_bias(a.end, column + a.end.half), ends.partner_scale = scale_at(column + a.end.half);
    if constexpr (config.end == StreamEnd::rotated) {
      if (column < a.end.rotated)
        ends.angles = load_angles(a.end, {a.end.cos_type, a.end.sin_type}, mine.token, column);
    } else {
      ends.residual = load_residual(a.end, mine.token, column);
    }
    if constexpr (config.end == StreamEnd::norm) ends.norm_weight = load4(a.end.scale, DType::f32, column);
    return ends;
  }
  __device__ static float4 linear(float4 sum, float factor, float4 scale, float4 bias) {
    const float4 scaled = kWidens ? sum * scale : sum;
    return scaled * factor + bias;
  }
  __device__ float4 activated(float4 y) const {
    if (a.end.activation != Activation::gelu || a.end.out_type == DType::f32) return activate4(a.end.activation, y);
    return {narrow_gelu(y.x), narrow_gelu(y.y), narrow_gelu(y.z), narrow_gelu(y.w)};
  }

  // A lane's columns of the group that begins with the block's first-th tile.
  struct Group {
    uint32_t index, column;
    bool valid;
    Ends ends;
  };
  __device__ Group group_at(const Own& mine, uint32_t first) const {
    Group of{first + mine.in_group, 0, false, {}};
    const uint32_t tile = first_tile + of.index;
    of.column = column_of(tile) + mine.quad * 4;
    of.valid = mine.in_group < shared.group() && tile < end_tile && of.column < a.n;
    return of;
  }
  // Prefetches what the first group takes beside its sums: the weights that streamed through the cache since it was
  // there last have driven it out.
  __device__ void prefetch() const {
    const Own mine = own();
    const Group group = group_at(mine, 0);
    if (!group.valid) return;
    const auto line = [](uint64_t base, int64_t at, DType type) {
      if (base) prefetch_to_l2(in_memory<const char>(base) + at * (type == DType::f32 ? 4 : 2));
    };
    line(a.end.residual, mine.token * a.end.residual_stride + group.column, a.end.residual_type);
#pragma unroll
    for (uint32_t side = 0; side < (kPairs ? 2 : 1); ++side) {
      const uint32_t column = group.column + side * a.end.half;
      line(a.end.bias, column, a.end.bias_type);
      line(a.end.w_scale, column, DType::f32);
    }
    line(a.end.scale, group.column, DType::f32);
  }
  // Loads what a group takes beside its sums before it waits for these.
  __device__ void finish() const {
    const Own mine = own();
    const float factor = factor_of(mine) * (k4Bits ? kOfNibbles : 1.0f);
    Place at;
#pragma unroll 1
    for (uint32_t first = 0; first_tile + first < end_tile; first += shared.group(), at.advance(2)) {
      Group group = group_at(mine, first);
      if (group.valid) group.ends = ends_at(mine, group.column);
      barrier_wait(sums_full + 8 * at.stage, at.parity);
      const uint32_t index = group.valid ? group.index : 0;
      const float4 sums = sum(index, mine.token, mine.quad), partner = kPairs ? sum(index, mine.token, 1) : float4{};
      sync_warp();
      if (lane() == 0) barrier_arrive(sums_free + 8 * at.stage);
      const Ends& ends = group.ends;
      finish_quad(mine, group, linear(sums, factor, ends.scale, ends.bias),
                  linear(partner, factor, ends.partner_scale, ends.partner_bias));
    }
  }
  // All lanes call this; those that are not valid only take part in sums of neighbours.
  __device__ void finish_quad(const Own& mine, const Group& group, float4 y, float4 partner) const {
    const auto& [index, column, valid, ends] = group;
    const int64_t to = static_cast<int64_t>(mine.token) * a.n + column;
    if constexpr (config.end == StreamEnd::rotated) {
      if (!valid) return;
      const bool rotates = column < a.end.rotated;
      store4(a.end.out, a.end.out_type, to, rotates ? rotate_lower(ends.angles, y, partner) : y);
      store4(a.end.out, a.end.out_type, to + a.end.half, rotates ? rotate_upper(ends.angles, y, partner) : partner);
    } else {
      y = activated(y);
      if constexpr (kPairs) y = y * partner;
      y = y + ends.residual;
      if (valid) store4(a.end.out, a.end.out_type, to, y);
      if constexpr (config.end == StreamEnd::norm) store_for_norm(mine, valid, to, y, ends.norm_weight);
    }
  }
  __device__ void store_for_norm(const Own& mine, bool valid, int64_t to, float4 y, float4 weight) const {
    const float squares = lanes_sum<kStreamNormRun / 4>(sum_of(y * y));
    if (!valid) return;
    store4(a.end.scaled, DType::bf16, to, y * weight);
    if (mine.quad == 0) element<float>(a.end.means, to / kStreamNormRun) = squares / kStreamNormRun;
  }
};

template <StreamConfig config>
__device__ void linear_stream(const LinearStreamArguments& a) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  allow_dependents();
  const Stream<config> work(a, shared_address(shared_memory));
  const uint32_t role = shuffle(warp(), 0);  // the compiler knows that it is uniform
  if (role == kWarps) work.init_barriers();
  if (role == kWarps && elect_lane()) prefetch_map(a.w);
  sync_block();
  if (role == kWarps) {
    if (elect_lane()) work.fetch();
  } else if (role < kWarps) {
    wait_for_producers();
    work.multiply(work.load_x());
  } else {
    work.prefetch();
    wait_for_producers();
    work.finish();
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kStreamThreads, 3) \
  entry(const __grid_constant__ LinearStreamArguments a) { linear_stream<StreamConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_stream.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
