// Linear layers of some hundreds of tokens on Hopper: a block keeps fetching the next chunks of weights and tokens
// while two warpgroups multiply, each its own rows of weights.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/bulk_copy_sm90.cuh"
#include "kernels/gpu/cluster_sm90.cuh"
#include "kernels/gpu/linear_epilogue.cuh"
#include "kernels/gpu/linear_wgmma_sm90.cuh"
#include "kernels/gpu/linear_wide_sm90.cuh"

#include <type_traits>

namespace rung::gpu {
namespace {

// One block. kBlocks: 64-row blocks of w of a warpgroup; kTokens: of a tile.
template <class T, int kBlocks, int kTokens, bool kGated>
struct Wide {
  static constexpr WideTile kTile{kWideGroups * kBlocks * 64, kTokens, kGated};
  static constexpr int kStageBytes = kTile.stage_bytes(), kWeightBytes = kTile.rows * kRowBytes;
  static constexpr int kColumns = kTile.group_columns(), kPitch = kTile.pitch();
  using Sums = float[kBlocks][kTokens / 2];

  const LinearWideArguments& a;
  const uint32_t full, empty, received, ring;  // shared addresses
  const int rank;                              // among the blocks that share K
  const int first_chunk, chunks;               // this block's part of K

  __device__ Wide(const LinearWideArguments& arguments, uint32_t shared)
      : a(arguments),
        full(shared),
        empty(shared + kWideMaxStages * 8),
        received(shared + kWideMaxStages * 16),
        ring(shared + kWideHeaderBytes),
        rank(splits() ? cluster_rank() : 0),
        first_chunk(rank * (a.chunks / 2)),
        chunks(splits() ? (a.chunks + rank) / 2 : a.chunks) {}
  __device__ bool splits() const { return !kGated && a.split > 1; }
  // Of the tiles.
  __device__ int first_tile() const { return static_cast<int>(blockIdx.x) / a.split; }
  __device__ int tile_step() const { return static_cast<int>(gridDim.x) / a.split; }

  // A tile's first column of out, and its first token; tiles go along the tokens first. Its rows of w begin with group
  // `eight` of a head, or of all rows where none is turned.
  struct Place {
    int column, token, eight, head;
  };
  __device__ static int thread() { return static_cast<int>(threadIdx.x) % kGroupThreads; }  // of a warpgroup
  __device__ Place place_of(int tile) const {
    const int row = tile / a.token_tiles, token = (tile - row * a.token_tiles) * kTokens;
    if (!turns_heads()) return {row * kTile.columns(), token, row * kTile.columns() / 8, 0};
    const int column = row * (kTile.rows / 2), head = column / a.half;  // of the lower halves alone
    return {column + head * a.half, token, (column - head * a.half) / 8, head};
  }
  static constexpr bool kMayTurn = !kGated && kBlocks == 1;
  __device__ bool turns_heads() const { return kMayTurn && a.half > 0; }

  // ---- the fetching thread

  __device__ void init_barriers() const {
#pragma unroll 1
    for (int stage = 0; stage < a.stages; ++stage) {
      barrier_init(full + 8 * stage, 1);
      barrier_init(empty + 8 * stage, kWideGroups * kGroupWarps);
    }
    if (splits()) barrier_init(received, 1);
    barrier_init_fence();
    if (splits()) barrier_expect(received, kWideGroups * finished_tokens(rank) * kPitch);
  }
  __device__ int column_of_k(int chunk) const { return (first_chunk + chunk) * kWideDepth; }
  __device__ void fetch_weights(int stage, int chunk, const Place& at) const {
    const CopyTarget to{ring + stage * kStageBytes, full + 8 * stage};
    barrier_expect(to.barrier, kStageBytes);
    load_box(to, a.w, {column_of_k(chunk), 0, 0, at.eight, at.head});
  }
  __device__ void fetch_tokens(int stage, int chunk, int token) const {
    load_box({ring + stage * kStageBytes + kWeightBytes, full + 8 * stage}, a.x, token, column_of_k(chunk));
  }
  __device__ int early() const { return min(a.stages, chunks); }
  // Weights do not depend on the kernels before this one: they fill the ring first.
  __device__ void fetch_early() const {
    const Place at = place_of(first_tile());
#pragma unroll 1
    for (int stage = 0; stage < early(); ++stage) fetch_weights(stage, stage, at);
  }
  __device__ void fetch() const {
    int tile = first_tile(), chunk = early();
    Place at = place_of(tile);
#pragma unroll 1
    for (int stage = 0; stage < chunk; ++stage) fetch_tokens(stage, stage, at.token);
    Turn turn{chunk == a.stages ? 0 : chunk, chunk == a.stages};
    while (true) {
#pragma unroll 1
      for (; chunk < chunks; ++chunk, turn.advance(a.stages)) {
        barrier_wait(empty + 8 * turn.stage, turn.phase ^ 1);
        fetch_weights(turn.stage, chunk, at);
        fetch_tokens(turn.stage, chunk, at.token);
      }
      tile += tile_step();
      if (tile >= a.tiles) break;
      at = place_of(tile), chunk = 0;
    }
  }

  // ---- products

  __device__ static int group() { return shuffle(warp() / kGroupWarps, 0); }
  __device__ static int in_group() { return warp() % kGroupWarps; }
  __device__ void release(int stage) const {
    if (lane() == 0) barrier_arrive(empty + 8 * stage);
  }
  // Of block b, sums 4j + 2h + i are of column column_of(b, h) and token 8j + 2(lane % 4) + i; where there are
  // partners, h = 1 are theirs.
  __device__ int column_of(int block, int h) const {
    const int row = lane() / 4;
    if (kGated || turns_heads()) return block * 32 + in_group() * 8 + row + (kGated ? 0 : h * a.half);
    return block * 64 + in_group() * 16 + h * 8 + row;
  }
  // Columns of a warpgroup without partners.
  __device__ int own_columns() const { return turns_heads() ? kColumns / 2 : kColumns; }
  using Bias = float[kBlocks][2];
  __device__ void load_bias(Bias& bias, int first) const {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int column = min(first + group() * own_columns() + column_of(block, h), a.n - 1);
        bias[block][h] = load_as<float>(a.bias, a.bias_type, kGated ? h * a.n + column : column);
      }
  }
  __device__ static void add_bias(Sums& d, const Bias& bias) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int i = 0; i < kTokens / 2; ++i) d[block][i] += bias[block][i / 2 % 2];
  }
  __device__ static void multiply_chunk(Sums& d, uint64_t w, uint64_t x) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kWideDepth / 16; ++step)
#pragma unroll
      for (int block = 0; block < kBlocks; ++block)
        Wgmma<T, kTokens>::run(d[block], w + block * (64 * kRowBytes >> 4) + 2 * step, x + 2 * step);
    wgmma_commit();
  }
  // Of a gated product, the second group lets the first end a tile alone, kLead chunks before its own end; then each
  // finishes its results while the other multiplies.
  __device__ void multiply(Sums& d, Turn& turn) const {
    constexpr int kLead = 3;
    static_assert(kTile.shared_bytes(kLead + 1) <= 227 * 1024, "the ring holds what the first group is ahead");
    const int pause = kGated && chunks > kLead ? chunks - kLead : -1, own = group();
    const uint64_t w = wgmma_operand(ring + own * kBlocks * 64 * kRowBytes), x = wgmma_operand(ring + kWeightBytes);
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int i = 0; i < kTokens / 2; ++i) d[block][i] = 0;
    int last = 0;
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      if (chunk == pause && own > 0) meet_both(kFirstIsAhead);
      barrier_wait(full + 8 * turn.stage, turn.phase);
      const int offset = turn.stage * (kStageBytes >> 4);
      multiply_chunk(d, w + offset, x + offset);
      if (chunk > 0) {
        wgmma_wait<1>();
        release(last);
      }
      last = turn.stage;
      turn.advance(a.stages);
    }
    if (pause >= 0 && own == 0) announce(kFirstIsAhead);
    wgmma_wait<0>();
    release(last);
  }

  // ---- results

  // Sums to shared memory, in the place of the ring, a row for each token, partners in its second half; returns where
  // this warpgroup's are.
  __device__ uint32_t keep(const Sums& d) const {
    const uint32_t sums = ring + group() * kTile.piece_bytes();
    meet_both(kBothGroups);  // no more is read from the ring
    store_sums(d, sums);
    meet_own(group());
    return sums;
  }
  __device__ void store_sums(const Sums& d, uint32_t sums) const {
    const uint32_t own = sums + lane() % 4 * 2 * kPitch + column_of(0, 0) * 4;
    const uint32_t other = own + (turns_heads() ? kColumns / 2 : 8) * 4;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int i = 0; i < kTokens / 2; ++i)
        store_shared((i / 2 % 2 ? other : own) + (i / 4 * 8 + i % 2) * kPitch + block * 64 * 4, d[block][i]);
  }
  // The same of a product whose K two blocks share: returns where this warpgroup's sums are of the tokens that this
  // block finishes. What the other block has for them comes to inbox().
  __device__ uint32_t exchange(const Sums& d) const {
    const uint32_t sums = ring + group() * 2 * kTile.half_bytes();
    meet_both(kBothGroups);
    cluster_arrive();
    store_sums(d, sums);
    stores_before_copies();
    meet_own(group());
    cluster_wait();  // the other block does not read from its ring any more either
    send_half(sums);
    barrier_wait(received, 0);
    cluster_arrive();  // nothing more comes from the other block
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
  // Of out, where that of this warpgroup's results in shared memory is `own`.
  __device__ int column_at(const Place& at, int own) const {
    if (!turns_heads()) return at.column + group() * kColumns + own;
    constexpr int kHalf = kColumns / 2;
    return at.column + group() * kHalf + own % kHalf + own / kHalf * a.half;
  }
  __device__ float4 load_residual(int64_t at) const {
    return a.residual_type == DType::f32 ? load4(reinterpret_cast<const float*>(a.residual) + at)
                                         : load4(reinterpret_cast<const T*>(a.residual) + at);
  }
  // A thread finishes four columns of every kStep-th token; of a split product those that this block finishes.
  template <class Out, bool kSplit>
  __device__ void finish(const Sums& d, const Place& at) const {
    constexpr int kQuads = kColumns / 4, kStep = kGroupThreads / kQuads, kTogether = 4;
    const int quad = thread() % kQuads, row = thread() / kQuads, column = column_at(at, quad * 4);
    const int begin = rank * kTile.first_half(), end = kSplit && rank == 0 ? kTile.first_half() : kTokens;
    const int64_t first = at.token + begin + row;
    int64_t residual = first * a.residual_stride + column;
    auto* out = reinterpret_cast<Out*>(a.out) + first * a.n + column;
    uint32_t from = (kSplit ? exchange(d) : keep(d)) + row * kPitch + quad * 16;
    uint32_t more_from = inbox() + row * kPitch + quad * 16;
    const int tokens = column < a.n ? min(end, a.m - at.token) - begin - row : 0;
#pragma unroll 1
    for (int token = 0; token < tokens; token += kStep * kTogether) {
      float4 y[kTogether], more[kTogether] = {};
#pragma unroll
      for (int i = 0; i < kTogether; ++i)
        if (a.residual && token + i * kStep < tokens) more[i] = load_residual(residual + i * kStep * a.residual_stride);
#pragma unroll
      for (int i = 0; i < kTogether; ++i)
        if (token + i * kStep < tokens) {
          y[i] = load_shared<float4>(from + i * kStep * kPitch);
          if (kSplit) y[i] = y[i] + load_shared<float4>(more_from + i * kStep * kPitch);
        }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if (a.activation) y[i] = activate4(a.activation, y[i]);
        if (token + i * kStep < tokens) store4(out + i * kStep * a.n, y[i] + more[i]);
      }
      residual += kStep * kTogether * a.residual_stride, out += kStep * kTogether * a.n;
      from += kStep * kTogether * kPitch, more_from += kStep * kTogether * kPitch;
    }
  }
  // Results without a residual.
  template <class Gate>
  __device__ void finish_rounded(const Sums& d, const Place& at, Gate activate) const {
    constexpr int kPitch = kTile.rounded_pitch();
    const uint32_t piece = ring + group() * kTokens * kPitch;
    const uint32_t own = piece + lane() % 8 * kPitch + (in_group() * 16 + lane() / 8 % 2 * 8) * 2;
    meet_both(kBothGroups);  // no more is read from the ring
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int j = 0; j < kTokens / 8; ++j) {
        const float* x = d[block] + 4 * j;
        store_transposed(own + j * 8 * kPitch + block * 64 * 2, pack<T>(activate(x[0]), activate(x[1])),
                         pack<T>(activate(x[2]), activate(x[3])));
      }
    meet_own(group());
    store_rounded<kTokens>(piece, at.column + group() * kColumns, at.token, kTokens);
  }

  // ---- heads that turn: a thread of both warpgroups finishes four columns and their partners of every kTurnStep-th
  // token; what angles it can hold come while the chunks multiply

  static constexpr int kTurnQuads = kTile.rows / 8, kTurnStep = kWideGroups * kGroupThreads / kTurnQuads;
  static constexpr int kHeldTokens = kTokens / kTurnStep < 9 ? (kTokens + kTurnStep - 1) / kTurnStep : 9;
  using Held = uint32_t[kHeldTokens * 8];
  template <class Angle>
  static constexpr int kHeld = kHeldTokens * 2 / static_cast<int>(sizeof(Angle));  // tokens

  __device__ static int turn_quad() { return static_cast<int>(threadIdx.x) % kTurnQuads; }
  __device__ static int turn_row() { return static_cast<int>(threadIdx.x) / kTurnQuads; }
  // Cosines, sines, and those of the partners, of kHeld tokens from `token` of the tile on.
  template <class Angle>
  __device__ void load_angles(Held& held, const Place& at, int token) const {
    constexpr int kWords = sizeof(Angle);
    const int position = (at.column + turn_quad() * 4) % (2 * a.half);
#pragma unroll
    for (int i = 0; i < kHeld<Angle>; ++i) {
      const int64_t row = min(at.token + token + turn_row() + i * kTurnStep, a.m - 1);
      const Angle* cos = reinterpret_cast<const Angle*>(a.cos) + row * a.cos_stride + position;
      const Angle* sin = reinterpret_cast<const Angle*>(a.sin) + row * a.sin_stride + position;
      const Angle* from[4] = {cos, sin, cos + a.half, sin + a.half};
#pragma unroll
      for (int which = 0; which < 4; ++which) {
        using Four = std::conditional_t<kWords == 4, uint4, uint2>;
        const Four four = *reinterpret_cast<const Four*>(from[which]);
        uint32_t* const to = held + (4 * i + which) * kWords;
        to[0] = four.x, to[1] = four.y;
        if constexpr (kWords == 4) to[2] = four.z, to[3] = four.w;
      }
    }
  }
  template <class Angle>
  __device__ static float4 angle(const Held& held, int i, int which) {
    const uint32_t* const from = held + (4 * i + which) * sizeof(Angle);
    if constexpr (sizeof(Angle) == 4) {
      return {__uint_as_float(from[0]), __uint_as_float(from[1]), __uint_as_float(from[2]), __uint_as_float(from[3])};
    } else {
      const float2 low = unpack<Angle>(from[0]), high = unpack<Angle>(from[1]);
      return {low.x, low.y, high.x, high.y};
    }
  }
  __device__ void load_first_angles(Held& held, const Place& at) const {
    if (!turns_heads() || at.column >= a.rotated) return;
    a.angle_type == DType::f32 ? load_angles<float>(held, at, 0) : load_angles<T>(held, at, 0);
  }
  template <class Angle>
  __device__ void finish_turned(const Sums& d, Held& held, const Place& at) const {
    static_assert(kMayTurn);
    constexpr int kRound = kHeld<Angle> * kTurnStep, kQuads = kColumns / 8;  // quads of a warpgroup
    const int tokens = min(kTokens, a.m - at.token) - turn_row();
    T* out =
        reinterpret_cast<T*>(a.out) + static_cast<int64_t>(at.token + turn_row()) * a.n + at.column + turn_quad() * 4;
    uint32_t from = ring + turn_quad() / kQuads * kTile.piece_bytes() + turn_row() * kPitch + turn_quad() % kQuads * 16;
    keep(d);
    meet_both(kBothGroups);
#pragma unroll 1
    for (int token = 0; token < tokens; token += kRound, out += kRound * a.n, from += kRound * kPitch) {
      if (token > 0) load_angles<Angle>(held, at, token);
#pragma unroll
      for (int i = 0; i < kHeld<Angle>; ++i) {
        if (token + i * kTurnStep >= tokens) break;
        const float4 x = load_shared<float4>(from + i * kTurnStep * kPitch);
        const float4 partner = load_shared<float4>(from + i * kTurnStep * kPitch + kColumns * 2);
        store4(out + i * kTurnStep * a.n, x * angle<Angle>(held, i, 0) - partner * angle<Angle>(held, i, 1));
        store4(out + i * kTurnStep * a.n + a.half, partner * angle<Angle>(held, i, 2) + x * angle<Angle>(held, i, 3));
      }
    }
  }
  template <class Gate>
  __device__ static uint32_t gated(const float* d, Gate gate) {
    return pack<T>(gate(d[0]) * d[2], gate(d[1]) * d[3]);
  }
  // A thread stores eight columns of every kStep-th token; of kCount tokens in shared memory at most so many exist.
  template <int kCount>
  __device__ void store_rounded(uint32_t piece, int column, int first, int tokens) const {
    constexpr int kEights = kColumns / 8, kStep = kGroupThreads / kEights, kPitch = kTile.rounded_pitch();
    const int eighth = thread() % kEights, row = thread() / kEights, own = column + eighth * 8;
    const int count = own < a.n ? min(tokens, a.m - first) - row : 0;
    const uint32_t from = piece + row * kPitch + eighth * 16;
    T* to = reinterpret_cast<T*>(a.out) + static_cast<int64_t>(first + row) * a.n + own;
#pragma unroll
    for (int token = 0; token < kCount; token += kStep, to += kStep * a.n)
      if (token < count) *reinterpret_cast<uint4*>(to) = load_shared<uint4>(from + token * kPitch);
  }
  template <class Gate>
  __device__ void finish_gated(const Sums& d, const Place& at, Gate gate) const {
    static_assert(kBlocks == 2);
    constexpr int kPiece = kTile.piece_tokens();
    const uint32_t piece = ring + a.stages * kStageBytes + group() * kTile.piece_bytes();
    const uint32_t own = piece + lane() % 8 * kPitch + (lane() / 8 % 2 * 32 + in_group() * 8) * 2;
#pragma unroll
    for (int first = 0; first < kTokens; first += kPiece) {
      constexpr int kGroupsOf8 = kTokens / 8;
#pragma unroll
      for (int j = first / 8; j < (first + kPiece) / 8 && j < kGroupsOf8; ++j)
        store_transposed(own + (j * 8 - first) * kPitch, gated(d[0] + 4 * j, gate), gated(d[1] + 4 * j, gate));
      meet_own(group());
      store_rounded<kPiece>(piece, at.column + group() * kColumns, at.token + first, min(kPiece, kTokens - first));
      meet_own(group());
    }
  }
  __device__ void finish_any(const Sums& d, Held& held, const Place& at) const {
    if constexpr (!kGated) {
      if constexpr (kMayTurn)
        if (turns_heads() && at.column < a.rotated)
          return a.angle_type == DType::f32 ? finish_turned<float>(d, held, at) : finish_turned<T>(d, held, at);
      if (!splits() && !turns_heads() && !a.residual && a.out_type != DType::f32) {
        if (a.activation == 0) return finish_rounded(d, at, [](float x) { return x; });
        if (a.activation == 3) return finish_rounded(d, at, gate_gelu_tanh);
      }
      if (splits()) {
        a.out_type == DType::f32 ? finish<float, true>(d, at) : finish<T, true>(d, at);
        return cluster_wait();  // what this block sent has arrived
      }
      a.out_type == DType::f32 ? finish<float, false>(d, at) : finish<T, false>(d, at);
    } else if (a.activation == 3)
      finish_gated(d, at, gate_gelu_tanh);
    else
      finish_gated(d, at, gate_silu);
  }

  __device__ void multiply_all() const {
    Turn turn;
    Sums d;
    Held held;
    Bias bias;
    const bool adds_bias = a.bias && rank == 0;
    for (int tile = first_tile(); tile < a.tiles; tile += tile_step()) {
      const Place at = place_of(tile);
      load_first_angles(held, at);
      if (adds_bias) load_bias(bias, at.column);
      multiply(d, turn);
      if (adds_bias) add_bias(d, bias);
      finish_any(d, held, at);
    }
  }
};

template <class T, int kBlocks, int kTokens, bool kGated>
__device__ void linear_wide(const LinearWideArguments& a) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  const Wide<T, kBlocks, kTokens, kGated> work(a, shared_address(shared_memory));
  const bool fetches = threadIdx.x == kWideGroups * kGroupThreads;
  allow_dependents();
  if (fetches) {
    work.init_barriers();
    work.fetch_early();
  }
  sync_block();
  wait_for_producers();
  if (warp() / kGroupWarps == kWideGroups) {
    give_registers<40>();
    if (fetches) work.fetch();
  } else {
    take_registers<232>();
    work.multiply_all();
  }
}

}  // namespace
}  // namespace rung::gpu

// linear_wide_bf16_128_104: tiles of 128 rows of w by 104 tokens.
#define RUNG_WIDE_OF(name, type, rows, tokens, gated)                                                       \
  extern "C" __global__ void __launch_bounds__(rung::gpu::kWideThreads, 1)                                  \
      name##_##type##_##rows##_##tokens(const __grid_constant__ rung::gpu::LinearWideArguments arguments) { \
    rung::gpu::linear_wide<rung::gpu::type, rows / 128, tokens, gated>(arguments);                          \
  }
#define RUNG_WIDE_OF_256(tokens)                      \
  RUNG_WIDE_OF(linear_wide, bf16, 256, tokens, false) \
  RUNG_WIDE_OF(linear_wide, f16, 256, tokens, false)
#define RUNG_WIDE(tokens)                             \
  RUNG_WIDE_OF(linear_wide, bf16, 128, tokens, false) \
  RUNG_WIDE_OF(linear_wide, f16, 128, tokens, false)
#define RUNG_WIDE_GATED(tokens)                            \
  RUNG_WIDE_OF(linear_wide_gated, bf16, 256, tokens, true) \
  RUNG_WIDE_OF(linear_wide_gated, f16, 256, tokens, true)
RUNG_WIDE(64)
RUNG_WIDE(104)
RUNG_WIDE(112)
RUNG_WIDE(128)
RUNG_WIDE(136)
RUNG_WIDE(192)
RUNG_WIDE(208)
RUNG_WIDE_OF_256(104)
RUNG_WIDE_OF_256(112)
RUNG_WIDE_GATED(104)
RUNG_WIDE_GATED(112)
RUNG_WIDE_GATED(128)
RUNG_WIDE_GATED(136)
