// The ends of streamed layers, by one warp of a block: a lane finishes four neighbouring columns of a token, and with
// them their partners, of a tile of each group.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/group_pairs_sm90.cuh"
#include "kernels/gpu/linear/linear_ends.cuh"
#include "kernels/gpu/linear/linear_stream_block_sm90.cuh"
#include "kernels/gpu/linear/narrow_gelu.cuh"

namespace rung::gpu {

template <StreamConfig config>
struct StreamFinish : StreamBlock<config> {
  using Block = StreamBlock<config>;
  using Block::a, Block::shared, Block::first_tile, Block::end_tile, Block::sums_full, Block::sums_free, Block::kWarps,
      Block::sums_of;
  static constexpr bool kWidens = config.widens(), k4Bits = config.has_4_bits();

  const StreamConfig layer;  // its end is the layer's, which `config` need not have
  const uint32_t quads;      // of the columns of out in a tile

  __device__ StreamFinish(const LinearStreamArguments& a, uint32_t memory, StreamEnd end)
      : Block(a, memory),
        layer{config.x, config.w, end, config.grouped},
        quads((layer.pairs() ? kStreamRows / 2 : kStreamRows) / 4) {}

  __device__ uint32_t column_of(uint32_t tile) const { return stream_column(layer, a.end.half, tile); }

  struct Own {
    uint32_t in_group, token, quad;
  };
  __device__ Own own() const {
    return {lane() / (quads * a.m), lane() / quads % a.m, lane() % quads};
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
  __device__ float4 sum(uint32_t count, uint32_t token, uint32_t quad) const {
    float4 v[kWarps];
#pragma unroll
    for (uint32_t i = 0; i < kWarps; ++i) v[i] = load_shared<float4>(sums_of(count, i, token) + quad * 16);
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
    if (layer.pairs())
      ends.partner_bias = load_bias(a.end, column + a.end.half), ends.partner_scale = scale_at(column + a.end.half);
    if (layer.end == StreamEnd::rotated) {
      if (column < a.end.rotated)
        ends.angles = load_angles(a.end, {a.end.cos_type, a.end.sin_type}, mine.token, column);
    } else {
      ends.residual = load_residual(a.end, mine.token, column);
    }
    if (layer.end == StreamEnd::norm) ends.norm_weight = load4(a.end.scale, DType::f32, column);
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
    for (uint32_t side = 0; side < (layer.pairs() ? 2 : 1); ++side) {
      const uint32_t column = group.column + side * a.end.half;
      line(a.end.bias, column, a.end.bias_type);
      line(a.end.w_scale, column, DType::f32);
    }
    line(a.end.scale, group.column, DType::f32);
  }
  // Loads what a group takes beside its sums before it waits for these. A rehearsal goes through the code once, on
  // whatever is in the sums' place, and stores nothing.
  __device__ void finish(StreamProgress& progress, bool rehearses = false) const {
    const Own mine = own();
    const float factor = rehearses ? 0.0f : factor_of(mine) * (k4Bits ? kOfNibbles : 1.0f);
    const uint32_t end = rehearses ? first_tile + 1 : end_tile;
#pragma unroll 1
    for (uint32_t first = 0; first_tile + first < end; first += shared.group()) {
      Group group = group_at(mine, first);
      if (rehearses) group.valid = false;
      if (group.valid) group.ends = ends_at(mine, group.column);
      if (!rehearses) barrier_wait(sums_full + 8 * progress.at.stage, progress.at.parity);
      const uint32_t count = progress.count + (group.valid ? group.index : first);
      const float4 sums = sum(count, mine.token, mine.quad);
      const float4 partner = layer.pairs() ? sum(count, mine.token, 1) : float4{};
      sync_warp();
      if (lane() == 0 && !rehearses) barrier_arrive(sums_free + 8 * progress.at.stage);
      const Ends& ends = group.ends;
      finish_quad(mine, group, linear(sums, factor, ends.scale, ends.bias),
                  linear(partner, factor, ends.partner_scale, ends.partner_bias));
      if (!rehearses) progress.at.advance(2);
    }
    if (!rehearses) progress.count = this->count_after(progress.count);
  }
  // All lanes call this; those that are not valid only take part in sums of neighbours.
  __device__ void finish_quad(const Own& mine, const Group& group, float4 y, float4 partner) const {
    const auto& [index, column, valid, ends] = group;
    const int64_t to = static_cast<int64_t>(mine.token) * a.n + column;
    if (layer.end == StreamEnd::rotated) {
      if (!valid) return;
      const bool rotates = column < a.end.rotated;
      store4(a.end.out, a.end.out_type, to, rotates ? rotate_lower(ends.angles, y, partner) : y);
      store4(a.end.out, a.end.out_type, to + a.end.half, rotates ? rotate_upper(ends.angles, y, partner) : partner);
    } else {
      y = activated(y);
      if (layer.pairs()) y = y * partner;
      y = y + ends.residual;
      if (valid) store4(a.end.out, a.end.out_type, to, y);
      if (layer.end == StreamEnd::norm) store_for_norm(mine, valid, to, y, ends.norm_weight);
    }
  }
  __device__ void store_for_norm(const Own& mine, bool valid, int64_t to, float4 y, float4 weight) const {
    const float squares = lanes_sum<kStreamNormRun / 4>(sum_of(y * y));
    if (!valid) return;
    store4(a.end.scaled, DType::bf16, to, y * weight);
    if (mine.quad == 0) element<float>(a.end.means, to / kStreamNormRun) = squares / kStreamNormRun;
  }
};

}  // namespace rung::gpu
