// A block of the wide linear kernels up to its sums: the ring and the two threads that fill it, the products of the two
// warpgroups, and the exchange of sums between two blocks that share K.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_ends.cuh"
#include "kernels/gpu/linear/linear_wgmma_sm90.cuh"
#include "kernels/gpu/linear/linear_wide_sm90.cuh"
#include "kernels/gpu/sm90/bulk_copy.cuh"
#include "kernels/gpu/sm90/cluster.cuh"

namespace rung::gpu {

template <WideConfig config>
struct WideBlock {
  using T = Element<config.narrow()>;
  static constexpr WideConfig kTile = config;
  static constexpr WideEpilogue kEpilogue = config.epilogue;
  static constexpr bool kGated = config.gated(), kRotates = config.rotates();
  static constexpr int kBlocks = config.rows / (kWideGroups * 64);  // 64-row blocks of w of a warpgroup
  static constexpr int kTokens = config.tokens, kSplit = config.split;
  static constexpr int kStageBytes = kTile.stage_bytes(), kWeightBytes = kTile.rows * kWideRowBytes;
  static constexpr int kColumns = kTile.group_columns(), kPitch = kTile.pitch();
  static constexpr bool kSplits = kSplit > 1;
  static_assert(!(kGated && kSplits) && !(kRotates && kSplits) && !(kRotates && (kGated || kBlocks > 1)));
  static constexpr bool kPromotes = config.promotes();
  static constexpr bool kSeparate = kPromotes || config.has_integers();  // products add up in registers of their own
  static constexpr int kPromoted = 4;  // chunks whose products add up before they are promoted: 512 of K
  using Sums = float[kBlocks][kTokens / 2];
  using ProductSums = typename ProductSum<Element<config.type>>::type[kBlocks][kTokens / 2];

  const LinearWideArguments& a;
  const uint32_t full, empty, received, ring;  // shared addresses
  const int rank;                              // of this block, among the blocks that share K
  const int first_chunk, chunks;               // this block's part of K

  __device__ WideBlock(const LinearWideArguments& arguments, uint32_t shared)
      : a(arguments),
        full(shared),
        empty(shared + kWideMaxStages * 8),
        received(shared + kWideMaxStages * 16),
        ring(shared + kWideHeaderBytes),
        rank(kSplits ? cluster_rank() : 0),
        first_chunk(rank * (a.chunks / 2)),
        chunks(kSplits ? (a.chunks + rank) / 2 : a.chunks) {}
  __device__ int half() const { return static_cast<int>(a.end.half); }
  __device__ int rotated() const { return static_cast<int>(a.end.rotated); }
  // The block's first tile, and the step to its next one.
  __device__ int first_tile() const { return static_cast<int>(blockIdx.x) / kSplit; }
  __device__ int tile_step() const { return static_cast<int>(gridDim.x) / kSplit; }

  // A tile's first column of out and its first token. Its rows of w begin with group `eight` of a head, or of all rows
  // if no head is rotated. A tile of rotated heads has a part of one head, or several heads.
  struct Place {
    int column, token, eight, head;
  };
  __device__ static int thread() { return static_cast<int>(threadIdx.x) % kGroupThreads; }  // of a warpgroup
  __device__ Place place_of(int tile) const {
    const auto [row, token_tile] = a.order.of(tile);
    const int token = token_tile * kTokens;
    if (!kRotates) return {row * kTile.columns(), token, row * kTile.columns() / 8, 0};
    const int column = row * (kTile.rows / 2), head = column / half();  // column: among the lower halves
    return {column + head * half(), token, (column - head * half()) / 8, head};
  }
  // Returns the distance in out from the tile's first column to its column `lower` among the lower halves.
  __device__ int spread(int lower) const { return lower + lower / half() * half(); }

  // ---- the fetching threads: one fetches weights, one tokens

  __device__ void init_barriers() const {
#pragma unroll 1
    for (int stage = 0; stage < a.stages; ++stage) {
      barrier_init(full + 8 * stage, 2);
      barrier_init(empty + 8 * stage, kWideGroups * kGroupWarps);
    }
    if (kSplits) barrier_init(received, 1);
    barrier_init_fence();
    if (kSplits) barrier_expect(received, kWideGroups * finished_tokens(rank) * kPitch);
  }
  // Returns the first column of a chunk in maps of x and w, which count 16 bits as a column.
  __device__ int column_of_k(int chunk) const { return (first_chunk + chunk) * (kWideRowBytes / 2); }
  __device__ void fetch_weights(int stage, int chunk, const Place& at) const {
    const CopyTarget to{ring + stage * kStageBytes, full + 8 * stage};
    barrier_expect(to.barrier, kWeightBytes);
    load_box(to, a.w, {column_of_k(chunk), 0, 0, at.eight, at.head});
  }
  __device__ void fetch_tokens(int stage, int chunk, int token) const {
    const CopyTarget to{ring + stage * kStageBytes + kWeightBytes, full + 8 * stage};
    barrier_expect(to.barrier, kStageBytes - kWeightBytes);
    load_box(to, a.x, token, column_of_k(chunk));
  }
  // Fills the ring, then every stage that becomes free, tile after tile.
  template <class Fetch>
  __device__ void fetch_all(Fetch fetch) const {
    PipelineState state{0, 1};
#pragma unroll 1
    for (int tile = first_tile(); tile < a.tiles; tile += tile_step()) {
      const Place at = place_of(tile);
#pragma unroll 1
      for (int chunk = 0; chunk < chunks; ++chunk, state.advance(a.stages)) {
        barrier_wait(empty + 8 * state.stage, state.phase);
        fetch(state.stage, chunk, at);
      }
    }
  }
  __device__ void fetch_weights() const {
    fetch_all([&](int stage, int chunk, const Place& at) { fetch_weights(stage, chunk, at); });
  }
  __device__ void fetch_tokens() const {
    fetch_all([&](int stage, int chunk, const Place& at) { fetch_tokens(stage, chunk, at.token); });
  }

  // ---- products

  __device__ static int group() { return shuffle(warp() / kGroupWarps, 0); }
  __device__ static int in_group() { return warp() % kGroupWarps; }
  __device__ void release(int stage) const {
    if (lane() == 0) barrier_arrive(empty + 8 * stage);
  }
  // Sum 4j + 2h + i of block b is that of column column_of(b, h) and token 8j + 2(lane % 4) + i; if there are partners,
  // those with h = 1 are theirs.
  __device__ int column_of(int block, int h) const {
    const int row = lane() / 4;
    if (kGated || kRotates) return block * 32 + in_group() * 8 + row + (kGated ? 0 : h * half());
    return block * 64 + in_group() * 16 + h * 8 + row;
  }
  static constexpr int kOwnColumns = kRotates ? kColumns / 2 : kColumns;  // of a warpgroup, without partners
  using OfRows = float[kBlocks][2];  // one for each row of w that this lane has sums of
  __device__ void load_rows(OfRows& values, uint64_t base, DType type, int first) const {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int lower = group() * kOwnColumns + column_of(block, kRotates ? 0 : h);
        const int column = min(first + (kRotates ? spread(lower) + h * half() : lower), a.n - 1);
        values[block][h] = load_as<float>(base, type, kGated ? h * a.n + column : column);
      }
  }
  template <class Change>
  __device__ static void change_sums(Sums& d, Change change) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int i = 0; i < kTokens / 2; ++i) d[block][i] = change(d[block][i], block, i);
  }
  // Multiplies the sums by the scales of their tokens.
  __device__ void scale_tokens(Sums& d, int first) const {
    const auto* scales = reinterpret_cast<const float*>(a.end.x_scale);
#pragma unroll
    for (int j = 0; j < kTokens / 8; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float scale = scales[min(first + j * 8 + lane() % 4 * 2 + i, a.m - 1)];
#pragma unroll
        for (int block = 0; block < kBlocks; ++block) d[block][4 * j + i] *= scale, d[block][4 * j + 2 + i] *= scale;
      }
  }

  using Product = Wgmma<Element<config.type>, kTokens>;
  static constexpr int kSteps = kWideRowBytes / 32;  // products of a chunk
  static constexpr int kBlockOffset = 64 * kWideRowBytes >> 4;
  __device__ static void multiply_chunk(ProductSums& d, uint64_t w, uint64_t x) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
#pragma unroll
      for (int block = 0; block < kBlocks; ++block)
        Product::run(d[block], w + block * kBlockOffset + 2 * step, x + 2 * step);
    wgmma_commit();
  }
  // Makes f32 sums of what the matrix units have added up in registers of their own: of floats of 8 bits, of which they
  // keep few bits, it adds and clears them; of integers, which have no sums before, it converts them.
  __device__ static void promote(Sums& d, ProductSums& own) {
    wgmma_wait<0>();
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      hold_sums(own[block]);
#pragma unroll
      for (int i = 0; i < kTokens / 2; ++i) {
        if constexpr (kTile.has_integers())
          d[block][i] = static_cast<float>(own[block][i]);
        else
          d[block][i] += own[block][i], own[block][i] = 0;
      }
    }
  }
  __device__ static ProductSums& sums_of_products(Sums& d, ProductSums& own) {
    if constexpr (kSeparate)
      return own;
    else
      return d;
  }
  // In a gated product the second group pauses kWideLead chunks before its tile's end until the first has ended its
  // tile; then each group finishes its results while the other multiplies.
  __device__ void multiply(Sums& d, PipelineState& state) const {
    const int pause = kGated && chunks > kWideLead ? chunks - kWideLead : -1, own = group();
    const uint64_t w = wgmma_operand(ring + own * kBlocks * 64 * kWideRowBytes), x = wgmma_operand(ring + kWeightBytes);
    change_sums(d, [](float, int, int) { return 0.0f; });
    ProductSums own_sums = {};
    ProductSums& sums = sums_of_products(d, own_sums);
    int last = 0;
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      if (chunk == pause && own > 0) sync_both_groups(kFirstIsAhead);
      barrier_wait(full + 8 * state.stage, state.phase);
      const int offset = state.stage * (kStageBytes >> 4);
      multiply_chunk(sums, w + offset, x + offset);
      if (chunk > 0) {
        wgmma_wait<1>();
        release(last);
      }
      last = state.stage;
      state.advance(a.stages);
      if (kPromotes && chunk % kPromoted == kPromoted - 1) promote(d, own_sums);
    }
    if (pause >= 0 && own == 0) arrive(kFirstIsAhead);
    if constexpr (kSeparate)
      promote(d, own_sums);
    else
      wgmma_wait<0>();
    release(last);
  }

  // ---- sums, to shared memory

  // Keeps the sums in the ring's place, with a row for each token and partners in its second half; returns the address
  // of this warpgroup's sums.
  __device__ uint32_t keep(const Sums& d) const {
    const uint32_t sums = ring + group() * kTile.piece_bytes();
    sync_both_groups(kBothGroups);  // no warp reads the ring any more
    store_sums(d, sums);
    sync_own_group(group());
    return sums;
  }
  __device__ void store_sums(const Sums& d, uint32_t sums) const {
    const uint32_t own = sums + lane() % 4 * 2 * kPitch + column_of(0, 0) * 4;
    const uint32_t other = own + (kRotates ? kColumns / 2 : 8) * 4;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int i = 0; i < kTokens / 2; ++i)
        store_shared((i / 2 % 2 ? other : own) + (i / 4 * 8 + i % 2) * kPitch + block * 64 * 4, d[block][i]);
  }
  // Keeps and exchanges the sums of a product whose K two blocks share: returns the address of this warpgroup's sums of
  // the tokens that this block finishes. The other block's sums of these tokens arrive at inbox().
  __device__ uint32_t exchange(const Sums& d) const {
    const uint32_t sums = ring + group() * 2 * kTile.half_bytes();
    sync_both_groups(kBothGroups);
    cluster_arrive();
    store_sums(d, sums);
    stores_before_copies();
    sync_own_group(group());
    cluster_wait();  // the other block does not read its ring any more either
    send_half(sums);
    barrier_wait(received, 0);
    cluster_arrive();  // the other block's sums have arrived
    return sums + rank * kTile.half_bytes();
  }
  __device__ uint32_t inbox() const { return ring + (2 * kWideGroups + group()) * kTile.half_bytes(); }
  __device__ static int finished_tokens(int of_rank) {
    return of_rank == 0 ? kTile.first_half() : kTokens - kTile.first_half();
  }
  __device__ void send_half(uint32_t sums) const {
    const int other = 1 - rank, count = finished_tokens(other) * kPitch;
    const uint32_t to = peer_address(inbox(), static_cast<uint32_t>(other));
    const uint32_t came = peer_address(received, static_cast<uint32_t>(other));
    if (lane() > 0) return;
    for (int at = in_group() * 8 * kPitch; at < count; at += kGroupWarps * 8 * kPitch)
      send_to_peer({to + at, came}, sums + other * kTile.half_bytes() + at, 8 * kPitch);
  }
};

}  // namespace rung::gpu
