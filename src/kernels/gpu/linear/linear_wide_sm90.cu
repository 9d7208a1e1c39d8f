// Linear layers of some hundreds of tokens on Hopper: a block keeps fetching the next chunks of weights and tokens
// while two warpgroups multiply, each its own rows of weights.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_wide_block_sm90.cuh"
#include "kernels/gpu/linear/narrow_gelu.cuh"

namespace rung::gpu {
namespace {

template <WideConfig config>
struct Wide : WideBlock<config> {
  using Block = WideBlock<config>;
  using Block::a, Block::kTile, Block::kEpilogue, Block::kBlocks, Block::kTokens, Block::kColumns, Block::kPitch;
  using Block::group, Block::in_group, Block::thread;
  using Block::kSplits, Block::kRotates, Block::half, Block::rotated, Block::rank, Block::ring;
  using typename Block::T, typename Block::OfRows, typename Block::Place, typename Block::Sums;
  using Staged = Element<kTile.staged()>;  // results of 16 bits in shared memory
  using Block::Block;

  // ---- results: a thread finishes four columns of every kStep-th token; in a split product, of the tokens that this
  // block finishes

  struct Mine {
    static constexpr int kQuads = kColumns / 4, kStep = kGroupThreads / kQuads;
    int column, first, tokens;  // first: the first token; tokens: of the tile, from the first one on
    int offset;                 // in shared memory
  };
  __device__ Mine mine(const Place& at) const {
    const int quad = thread() % Mine::kQuads, row = thread() / Mine::kQuads;
    const int column = at.column + group() * kColumns + quad * 4;
    const int begin = rank * kTile.first_half(), end = kSplits && rank == 0 ? kTile.first_half() : kTokens;
    return {column, at.token + begin + row, column < a.n ? min(end, a.m - at.token) - begin - row : 0,
            row * kPitch + quad * 16};
  }
  __device__ uint32_t collect(const Sums& d) const { return kSplits ? this->exchange(d) : this->keep(d); }
  // Returns four columns of a token from the collected sums.
  __device__ float4 collected(uint32_t from, uint32_t more_from) const {
    const float4 y = load_shared<float4>(from);
    return kSplits ? y + load_shared<float4>(more_from) : y;
  }

  __device__ float4 load_residual(int64_t at) const {
    return a.end.residual_type == DType::f32 ? load4(reinterpret_cast<const float*>(a.end.residual) + at)
                                             : load4(reinterpret_cast<const T*>(a.end.residual) + at);
  }
  template <class Out>
  __device__ void finish(const Sums& d, const Place& at) const {
    constexpr int kTogether = 4, kStep = Mine::kStep;
    const Mine my = mine(at);
    int64_t residual = my.first * a.end.residual_stride + my.column;
    auto* out = reinterpret_cast<Out*>(a.end.out) + static_cast<int64_t>(my.first) * a.n + my.column;
    uint32_t from = collect(d) + my.offset, more_from = this->inbox() + my.offset;
#pragma unroll 1
    for (int token = 0; token < my.tokens; token += kStep * kTogether) {
      float4 y[kTogether], more[kTogether] = {};
#pragma unroll
      for (int i = 0; i < kTogether; ++i)
        if (a.end.residual && token + i * kStep < my.tokens)
          more[i] = load_residual(residual + i * kStep * a.end.residual_stride);
#pragma unroll
      for (int i = 0; i < kTogether; ++i)
        if (token + i * kStep < my.tokens) y[i] = collected(from + i * kStep * kPitch, more_from + i * kStep * kPitch);
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        // Every activation is out of line: one that is inlined here costs the others registers.
        if (a.end.activation != Activation::none) y[i] = activate4_any(a.end.activation, y[i]);
        if (token + i * kStep < my.tokens) store4(out + i * kStep * a.n, y[i] + more[i]);
      }
      residual += kStep * kTogether * a.end.residual_stride, out += kStep * kTogether * a.n;
      from += kStep * kTogether * kPitch, more_from += kStep * kTogether * kPitch;
    }
  }

  // ---- sums with a residual: as much of it as fits in registers is loaded while the chunks multiply

  template <class R>
  struct Residual {
    static constexpr int kTokensOfBlock = kSplits ? kTile.first_half() : kTokens;
    static constexpr int kAll = (kTokensOfBlock + Mine::kStep - 1) / Mine::kStep;  // tokens of a thread
    static constexpr int kSums = (1 + kTile.promotes()) * kBlocks * kTokens / 2;   // registers
    static constexpr int kSpare = kSums + 56 <= 208 ? 56 : kSums + 8 <= 208 ? 208 - kSums : 8;
    static constexpr int kMost = kSpare * 4 / sizeof(Four<R>);  // tokens that fit in the spare registers
    static constexpr int kRounds = (kAll + kMost - 1) / kMost, kHeld = (kAll + kRounds - 1) / kRounds;
    Four<R> of[kHeld];
  };
  // Loads the residual of this thread's tokens from number `begin` on.
  template <class R>
  __device__ void load(Residual<R>& residual, const Mine& my, int begin) const {
    constexpr int kStep = Mine::kStep;
    const R* const from = reinterpret_cast<const R*>(a.end.residual) + my.column;
#pragma unroll
    for (int i = 0; i < Residual<R>::kHeld; ++i)
      if ((begin + i) * kStep < my.tokens)
        residual.of[i] =
            *reinterpret_cast<const Four<R>*>(from + (my.first + (begin + i) * kStep) * a.end.residual_stride);
  }
  template <class R>
  __device__ void finish_sum(const Sums& d, Residual<R>& residual, const Mine& my) const {
    constexpr int kHeld = Residual<R>::kHeld, kStep = Mine::kStep;
    R* out = reinterpret_cast<R*>(a.end.out) + static_cast<int64_t>(my.first) * a.n + my.column;
    uint32_t from = collect(d) + my.offset, more_from = this->inbox() + my.offset;
#pragma unroll 1
    for (int begin = 0; begin * kStep < my.tokens; begin += kHeld) {
      if (begin > 0) load(residual, my, begin);
#pragma unroll
      for (int i = 0; i < kHeld; ++i)
        if ((begin + i) * kStep < my.tokens)
          store4(out + i * kStep * a.n,
                 collected(from + i * kStep * kPitch, more_from + i * kStep * kPitch) + widen<R>(residual.of[i]));
      out += kStep * kHeld * a.n, from += kStep * kHeld * kPitch, more_from += kStep * kHeld * kPitch;
    }
  }

  // ---- results that need only rounding

  __device__ static uint32_t staged(float first, float second) {
    if constexpr (kTile.to_integers()) return staged_integers(first, second);
    return pack<Staged>(first, second);
  }
  // Returns what a value that is not gated is multiplied by.
  __device__ float factor() const { return kTile.to_8_bits() ? a.end.factor : 1.0f; }
  template <class Gate>
  __device__ void finish_rounded(const Sums& d, const Place& at, Gate activate) const {
    constexpr int kPitch = kTile.rounded_pitch();
    const uint32_t piece = ring + group() * kTokens * kPitch;
    const uint32_t own = piece + lane() % 8 * kPitch + (in_group() * 16 + lane() / 8 % 2 * 8) * 2;
    sync_both_groups(kBothGroups);  // no warp reads the ring any more
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int j = 0; j < kTokens / 8; ++j) {
        const float* x = d[block] + 4 * j;
        store_transposed(own + j * 8 * kPitch + block * 64 * 2,
                         staged(activate(x[0]) * factor(), activate(x[1]) * factor()),
                         staged(activate(x[2]) * factor(), activate(x[3]) * factor()));
      }
    sync_own_group(group());
    store_rounded<kTokens>(piece, at.column + group() * kColumns, at.token, kTokens);
  }
  using Out = Element<kTile.out>;
  __device__ static void store_eight(Out* to, uint4 staged) {
    if constexpr (kTile.to_integers())
      *reinterpret_cast<uint2*>(to) = lower_bytes(staged);
    else if constexpr (kTile.to_8_bits())
      *reinterpret_cast<uint2*>(to) = {f8_of_halves(staged.x, staged.y), f8_of_halves(staged.z, staged.w)};
    else
      *reinterpret_cast<uint4*>(to) = staged;
  }
  // A thread stores eight columns of every kStep-th of the kCount tokens in shared memory that x has.
  template <int kCount>
  __device__ void store_rounded(uint32_t piece, int column, int first, int tokens) const {
    constexpr int kEights = kColumns / 8, kStep = kGroupThreads / kEights, kPitch = kTile.rounded_pitch();
    const int eighth = thread() % kEights, row = thread() / kEights, own = column + eighth * 8;
    const int count = own < a.n ? min(tokens, a.m - first) - row : 0;
    const uint32_t from = piece + row * kPitch + eighth * 16;
    auto* to = reinterpret_cast<Out*>(a.end.out) + static_cast<int64_t>(first + row) * a.n + own;
#pragma unroll
    for (int token = 0; token < kCount; token += kStep, to += kStep * a.n)
      if (token < count) store_eight(to, load_shared<uint4>(from + token * kPitch));
  }

  // ---- gated results

  template <class Gate>
  __device__ static uint32_t gated(const float* d, Gate gate) {
    return staged(gate(d[0]) * d[2], gate(d[1]) * d[3]);
  }
  template <class Gate>
  __device__ void finish_gated(const Sums& d, const Place& at, Gate gate) const {
    static_assert(kBlocks == 2);
    constexpr int kPiece = kTile.piece_tokens();
    const uint32_t piece = ring + a.stages * kTile.stage_bytes() + group() * kTile.piece_bytes();
    const uint32_t own = piece + lane() % 8 * kPitch + (lane() / 8 % 2 * 32 + in_group() * 8) * 2;
#pragma unroll
    for (int first = 0; first < kTokens; first += kPiece) {
      constexpr int kGroupsOf8 = kTokens / 8;
#pragma unroll
      for (int j = first / 8; j < (first + kPiece) / 8 && j < kGroupsOf8; ++j)
        store_transposed(own + (j * 8 - first) * kPitch, gated(d[0] + 4 * j, gate), gated(d[1] + 4 * j, gate));
      sync_own_group(group());
      store_rounded<kPiece>(piece, at.column + group() * kColumns, at.token + first, min(kPiece, kTokens - first));
      sync_own_group(group());
    }
  }

  // ---- RoPE-rotated heads: a thread of both warpgroups finishes four columns and their partners of every
  // kRotateStep-th token; as many angles as it can hold are loaded while the chunks multiply

  using Angle = std::conditional_t<kEpilogue == WideEpilogue::rotated_f32, float, T>;
  static constexpr int kRotateQuads = kTile.rows / 8, kRotateStep = kWideGroups * kGroupThreads / kRotateQuads;
  struct Angles {
    Four<Angle> cos, sin, upper_cos, upper_sin;  // upper: the partners'
  };
  // A thread holds the angles of as many tokens as 72 registers take; twice as many registers made layers slower.
  static constexpr int kRotated = (kTokens + kRotateStep - 1) / kRotateStep;
  static constexpr int kRoom = 72 * 4 / static_cast<int>(sizeof(Angles));
  static constexpr int kHeldTokens = kRotated < kRoom ? kRotated : kRoom;
  using Held = Angles[kHeldTokens];

  __device__ static int rotate_quad() { return static_cast<int>(threadIdx.x) % kRotateQuads; }
  __device__ static int rotate_row() { return static_cast<int>(threadIdx.x) / kRotateQuads; }
  __device__ int rotate_column(const Place& at) const { return at.column + this->spread(rotate_quad() * 4); }
  __device__ static Four<Angle> load_angle(uint64_t base, int64_t at) {
    return *reinterpret_cast<const Four<Angle>*>(reinterpret_cast<const Angle*>(base) + at);
  }
  // Loads the angles of this thread's tokens from `token` of the tile on.
  __device__ void load_angles(Held& held, const Place& at, int token) const {
    const int column = rotate_column(at);
    if (column >= rotated()) return;
    const int position = column % (2 * half());
#pragma unroll
    for (int i = 0; i < kHeldTokens; ++i) {
      const int64_t row = min(at.token + token + rotate_row() + i * kRotateStep, a.m - 1);
      const int64_t cos = row * a.end.cos_stride + position, sin = row * a.end.sin_stride + position;
      held[i] = {load_angle(a.end.cos, cos), load_angle(a.end.sin, sin), load_angle(a.end.cos, cos + half()),
                 load_angle(a.end.sin, sin + half())};
    }
  }
  __device__ void finish_rotated(const Sums& d, Held& held, const Place& at) const {
    constexpr int kRound = kHeldTokens * kRotateStep, kQuads = kColumns / 8;  // quads of a warpgroup
    const int quad = rotate_quad(), column = rotate_column(at);
    const bool rotates = column < rotated();
    const int tokens = column < a.n ? min(kTokens, a.m - at.token) - rotate_row() : 0;
    T* out = reinterpret_cast<T*>(a.end.out) + static_cast<int64_t>(at.token + rotate_row()) * a.n + column;
    uint32_t from = ring + quad / kQuads * kTile.piece_bytes() + rotate_row() * kPitch + quad % kQuads * 16;
    this->keep(d);
    sync_both_groups(kBothGroups);
#pragma unroll 1
    for (int token = 0; token < tokens; token += kRound, out += kRound * a.n, from += kRound * kPitch) {
      if (token > 0) load_angles(held, at, token);
#pragma unroll
      for (int i = 0; i < kHeldTokens; ++i) {
        if (token + i * kRotateStep >= tokens) break;
        const Angles& by = held[i];
        const float4 x = load_shared<float4>(from + i * kRotateStep * kPitch);
        const float4 upper = load_shared<float4>(from + i * kRotateStep * kPitch + kColumns * 2);
        T* const to = out + i * kRotateStep * a.n;
        store4(to, rotates ? x * widen<Angle>(by.cos) - upper * widen<Angle>(by.sin) : x);
        store4(to + half(), rotates ? upper * widen<Angle>(by.upper_cos) + x * widen<Angle>(by.upper_sin) : upper);
      }
    }
  }

  // ---- a tile from the first product to the last store; warps that read only tokens of other kernels' results need
  // not wait for those kernels: the thread that fetches tokens has waited

  __device__ void sums_of(Sums& d, PipelineState& state, const Place& at) const {
    OfRows bias, scale;
    const bool adds_bias = a.end.bias && rank == 0;
    if (kTile.has_8_bits()) this->load_rows(scale, a.end.w_scale, DType::f32, at.column);
    if (adds_bias) this->load_rows(bias, a.end.bias, a.end.bias_type, at.column);
    if constexpr (kTile.gated() && kTile.to_8_bits()) {
      // The result's factor is one of the half that no activation follows.
      for (int block = 0; block < kBlocks; ++block) {
        scale[block][1] *= a.end.factor;
        if (adds_bias) bias[block][1] *= a.end.factor;
      }
    }
    this->multiply(d, state);
    if (kTile.has_8_bits()) scale_sums(d, scale, at);
    if (adds_bias) this->change_sums(d, [&](float x, int block, int i) { return x + bias[block][i / 2 % 2]; });
  }
  __device__ void scale_sums(Sums& d, const OfRows& scale, const Place& at) const {
    this->change_sums(d, [&](float x, int block, int i) { return x * scale[block][i / 2 % 2]; });
    if (a.end.x_scale == 0) return;
    wait_for_producers();
    this->scale_tokens(d, at.token);
  }
  template <class R>
  __device__ void make_sum(Sums& d, PipelineState& state, const Place& at) const {
    Residual<R> residual;
    const Mine my = mine(at);
    wait_for_producers();
    load(residual, my, 0);
    sums_of(d, state, at);
    finish_sum(d, residual, my);
  }
  __device__ void make(Sums& d, PipelineState& state, const Place& at) const {
    if constexpr (kEpilogue == WideEpilogue::sum) {
      make_sum<float>(d, state, at);
    } else if constexpr (kEpilogue == WideEpilogue::sum_16) {
      make_sum<T>(d, state, at);
    } else if constexpr (kRotates) {
      Held held;
      wait_for_producers();
      load_angles(held, at, 0);
      sums_of(d, state, at);
      finish_rotated(d, held, at);
    } else {
      sums_of(d, state, at);
      if constexpr (kEpilogue == WideEpilogue::rounded) finish_rounded(d, at, [](float x) { return x; });
      if constexpr (kEpilogue == WideEpilogue::gelu) finish_rounded(d, at, narrow_gelu);
      constexpr auto kGelu = kTile.to_integers() ? coarse_gelu_tanh : gate_gelu_tanh;
      constexpr auto kSilu = kTile.to_integers() ? coarse_silu : gate_silu;
      if constexpr (kEpilogue == WideEpilogue::gelu_tanh) finish_rounded(d, at, kGelu);
      if constexpr (kEpilogue == WideEpilogue::gated_gelu) finish_gated(d, at, kGelu);
      if constexpr (kEpilogue == WideEpilogue::gated_silu) finish_gated(d, at, kSilu);
      if constexpr (kEpilogue == WideEpilogue::any) {
        wait_for_producers();
        a.end.out_type == DType::f32 ? finish<float>(d, at) : finish<T>(d, at);
      }
    }
  }
  __device__ void make_all() const {
    PipelineState state;
    Sums d;
    for (int tile = this->first_tile(); tile < a.tiles; tile += this->tile_step()) make(d, state, this->place_of(tile));
    if (kSplits) cluster_wait();  // this block's sums have arrived
  }
};

template <WideConfig config>
__device__ void linear_wide(const LinearWideArguments& a) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  allow_dependents();
  const Wide<config> work(a, shared_address(shared_memory));
  const int thread = static_cast<int>(threadIdx.x) - kWideGroups * kGroupThreads;  // of the warpgroup that fetches
  const bool fetches_weights = thread == 0, fetches_tokens = thread == kLanes;
  if (fetches_weights) prefetch_map(a.w), work.init_barriers();
  if (fetches_tokens) prefetch_map(a.x);
  sync_block();
  if (thread >= 0) {
    setmaxnreg_dec<40>();
    if (fetches_weights) work.fetch_weights();
    if (fetches_tokens) wait_for_producers(), work.fetch_tokens();
  } else {
    setmaxnreg_inc<232>();
    work.make_all();
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kWideThreads, 1)   \
  entry(const __grid_constant__ LinearWideArguments a) { linear_wide<WideConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_wide.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
