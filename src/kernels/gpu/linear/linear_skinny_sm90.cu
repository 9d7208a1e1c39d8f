// Linear layers of few tokens on Hopper: each tile of up to 64 tokens reads every weight once, straight from its row;
// the blocks of a cluster share K, and add up their sums through each other's shared memory in the order of their
// ranks.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/sm90/bulk_copy.cuh"
#include "kernels/gpu/sm90/cluster.cuh"
#include "kernels/gpu/linear/linear_skinny_arguments.hpp"
#include "kernels/gpu/linear/linear_wgmma_sm90.cuh"
#include "kernels/gpu/linear/linear_ends.cuh"
#include "kernels/gpu/linear/narrow_gelu.cuh"
#include "kernels/gpu/quantize/byte_elements.cuh"
#include "kernels/gpu/quantize/eight_bits.cuh"
#include "kernels/gpu/sm90/shared_memory.cuh"

namespace rung::gpu {
namespace {

constexpr uint32_t kMultipliers = 128;  // threads of the warpgroup that multiplies

// A ring of boxes in shared memory: `full` counts each stage's bytes, `empty` the warps that are done with the stage.
struct Ring {
  uint32_t base, stage_bytes, stages, full, empty;  // shared addresses, bytes

  __device__ void init(uint32_t stage) const {
    if (stage >= stages) return;
    barrier_init(full + 8 * stage, 1);
    barrier_init(empty + 8 * stage, kMultipliers / kLanes);
  }
};
// The state of a walk round a ring.
struct PipelineState {
  uint32_t stage = 0, parity = 0;

  __device__ void advance(const Ring& ring) {
    if (++stage == ring.stages) stage = 0, parity ^= 1;
  }
};

// A block: its tile, its part of K, and the layout of its shared memory.
template <SkinnyConfig config>
struct Skinny {
  using T = Element<config.type>;
  static constexpr bool kIntegers = config.type == DType::i8, k8Bits = config.type == DType::f8e4m3fn || kIntegers;
  static constexpr uint32_t kRows = config.rows, kSplit = config.split;
  static constexpr SkinnyEpilogue kEpilogue = config.epilogue;
  static constexpr uint32_t kPitch = skinny_pitch(kRows), kGroupBytes = 8 * kPitch;
  static constexpr bool kRotated = kEpilogue == SkinnyEpilogue::rotated || kEpilogue == SkinnyEpilogue::rotated_any;
  static constexpr bool kGated = kEpilogue == SkinnyEpilogue::gated || kEpilogue == SkinnyEpilogue::gated_any;
  static constexpr bool kPaired = kRotated || kGated;
  static constexpr bool kPlain =
      kEpilogue == SkinnyEpilogue::norm || kEpilogue == SkinnyEpilogue::gated || kEpilogue == SkinnyEpilogue::rotated;

  const LinearSkinnyArguments& a;
  uint32_t rank, column, first_token;                // column: the tile's first column of out
  uint32_t first_chunk, chunks, groups, own_groups;  // groups of 8 tokens
  Ring x, w;
  uint32_t received, multiplied;     // barriers: the other blocks' sums, the warps that are done with the rings
  uint32_t sums, inbox, slot_bytes;  // shared addresses; the inbox has a slot for each other block
  uint32_t factors;                  // shared address: one f32 for each token that this block finishes

  __device__ Skinny(const LinearSkinnyArguments& arguments, uint32_t shared) : a(arguments) {
    rank = blockIdx.x % kSplit;
    column = blockIdx.x / kSplit * (kPaired ? kRows / 2 : kRows);
    if constexpr (kRotated) column += column / a.end.half * a.end.half;  // skips the upper halves of the heads before
    first_token = blockIdx.y * a.tokens;
    first_chunk = rank * a.chunks / kSplit;
    chunks = (rank + 1) * a.chunks / kSplit - first_chunk;
    groups = a.tokens / 8;
    own_groups = (groups + kSplit - 1 - rank) / kSplit;
    const uint32_t barriers = kSkinnyMaxStages * 8, rings = shared + kSkinnyHeaderBytes;
    x = {rings, skinny_box_bytes(a.tokens), a.x_stages, shared, shared + barriers};
    w = {rings + x.stages * x.stage_bytes, skinny_box_bytes(kRows), a.w_stages, shared + 2 * barriers,
         shared + 3 * barriers};
    received = shared + 4 * barriers;
    multiplied = received + 8;
    factors = multiplied + 8;
    static_assert(4 * kSkinnyMaxStages * 8 + 16 + kSkinnyTokens * 4 <= kSkinnyHeaderBytes);
    sums = rings;
    const SkinnyShared all{kRows, a.tokens, kSplit, a.x_stages, a.w_stages};
    inbox = shared + all.bytes() - all.inbox_bytes();
    slot_bytes = (groups + kSplit - 1) / kSplit * kGroupBytes;
  }

  __device__ void init_barriers() const {  // by one warp
    x.init(lane()), w.init(lane());
    if (lane() == 0) barrier_init(received, 1), barrier_init(multiplied, kMultipliers / kLanes);
    barrier_init_fence();
  }
  // Expects the peers' sums; a single lane calls this, before the peers may send.
  __device__ void expect_sums() const { barrier_expect(received, (kSplit - 1) * own_groups * kGroupBytes); }

  // Waits for the peers, before any warp waits for another: compute-sanitizer's race checker holds all warps here.
  __device__ void meet_peers() const {
    if (kSplit > 1) cluster_wait();
  }

  // ---- loads into the rings, by one warp each

  __device__ void fetch_w(uint32_t chunk, uint32_t stage) const {
    CopyTarget at{w.base + stage * w.stage_bytes, w.full + 8 * stage};
    const uint32_t k = (first_chunk + chunk) * kBoxColumns;
    if (elect_lane()) {
      barrier_expect(at.barrier, w.stage_bytes);
      fetch_w_box(at, column, k);
      at.address += w.stage_bytes / 2;
      if (kPaired) fetch_w_box(at, column + a.end.half, k);
    }
    sync_warp();
  }
  // Weights that another tile of tokens reads as well stay in the L2 cache.
  __device__ void fetch_w_box(CopyTarget to, uint32_t row, uint32_t k) const {
    if (gridDim.y == 1)
      stream_box(to, a.w, row, k, policy_evict_first());
    else
      load_box(to, a.w, row, k);
  }
  // Fetches as much as the ring holds, under an issue throttle: the launch before is still at work, and a burst would
  // hold up its tokens.
  __device__ void fetch_first_w() const {
#pragma unroll 1
    for (uint32_t chunk = 0; chunk < chunks && chunk < w.stages; ++chunk) {
      if (chunk > 0 && a.throttle_ns > 0) pause_ns(a.throttle_ns);
      fetch_w(chunk, chunk);
    }
  }
  __device__ void fetch_other_w() const {
    PipelineState step{0, 1};
#pragma unroll 1
    for (uint32_t chunk = w.stages; chunk < chunks; ++chunk, step.advance(w)) {
      barrier_wait(w.empty + 8 * step.stage, step.parity ^ 1);
      fetch_w(chunk, step.stage);
    }
  }
  __device__ void fetch_x() const {
    PipelineState step;
#pragma unroll 1
    for (uint32_t chunk = 0; chunk < chunks; ++chunk, step.advance(x)) {
      if (chunk >= x.stages) barrier_wait(x.empty + 8 * step.stage, step.parity ^ 1);
      const CopyTarget at{x.base + step.stage * x.stage_bytes, x.full + 8 * step.stage};
      if (elect_lane()) {
        barrier_expect(at.barrier, x.stage_bytes);
        load_box(at, a.x, first_token, (first_chunk + chunk) * kBoxColumns);
      }
      sync_warp();
    }
  }

  // ---- factors of the rows that this block finishes, by the two idle warps: two lanes for a row, with as many loads
  // under way as the squares of 1024 columns take

  __device__ void find_factors(uint32_t index) const {  // index: of the warp, 0 or 1
    constexpr uint32_t kTogether = 4;
#pragma unroll 1
    for (uint32_t first = index * 16; first < own_groups * 8; first += 32) {
      const uint32_t row = first + lane() / 2, from = token(row);
      const uint32_t vectors = row < own_groups * 8 && from < a.m ? a.begin.squares_vectors : 0;
      const auto* squares = reinterpret_cast<const float4*>(a.begin.squares) + from * a.begin.squares_stride;
      float total = 0;
#pragma unroll 1
      for (uint32_t i = lane() % 2; i < vectors; i += 2 * kTogether) {
        float4 v[kTogether];
#pragma unroll
        for (uint32_t j = 0; j < kTogether; ++j) v[j] = i + 2 * j < vectors ? squares[i + 2 * j] : float4{};
#pragma unroll
        for (uint32_t j = 0; j < kTogether; ++j) total += sum_of(v[j]);
      }
      const float factor = rsqrtf(lanes_sum<2>(total) * a.begin.squares_share + a.begin.eps);
      if (row < own_groups * 8) store_shared(factors + row * 4, factor);
    }
  }

  // ---- products of this block's part of K

  __device__ void release(uint32_t x_stage, uint32_t w_stage) const {
    if (lane() != 0) return;
    barrier_arrive(x.empty + 8 * x_stage);
    barrier_arrive(w.empty + 8 * w_stage);
  }
  using Sums = float[kRows / 2];
  using ProductSums = typename ProductSum<T>::type[kRows / 2];
  // Makes f32 sums of what the matrix units have added up in registers of their own: of floats of 8 bits, of which they
  // keep few bits, it adds and clears them; of integers it converts them, once.
  static __device__ void promote(Sums& d, ProductSums& own) {
    wgmma_wait<0>();
    hold_sums(own);
#pragma unroll
    for (uint32_t i = 0; i < kRows / 2; ++i) {
      if constexpr (kIntegers)
        d[i] = static_cast<float>(own[i]);
      else
        d[i] += own[i], own[i] = 0;
    }
  }
  static __device__ ProductSums& sums_of_products(Sums& d, ProductSums& own) {
    if constexpr (k8Bits)
      return own;
    else
      return d;
  }
  __device__ void multiply(Sums& d) const {
    constexpr uint32_t kPromoted = 2;  // chunks whose products add up before they are promoted: 256 of K
    ProductSums own_sums = {};
    ProductSums& sums = sums_of_products(d, own_sums);
    PipelineState at_x, at_w;
    uint32_t last_x = 0, last_w = 0;
#pragma unroll
    for (uint32_t i = 0; i < kRows / 2; ++i) d[i] = 0;
#pragma unroll 1
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
      barrier_wait(w.full + 8 * at_w.stage, at_w.parity);
      barrier_wait(x.full + 8 * at_x.stage, at_x.parity);
      wgmma_fence();
      const uint64_t from_x = wgmma_operand(x.base + at_x.stage * x.stage_bytes);
      const uint64_t from_w = wgmma_operand(w.base + at_w.stage * w.stage_bytes);
#pragma unroll
      for (uint32_t step = 0; step < 4; ++step) Wgmma<T, kRows>::run(sums, from_x + 2 * step, from_w + 2 * step);
      wgmma_commit();
      if (chunk > 0) {
        wgmma_wait<1>();
        release(last_x, last_w);
      }
      last_x = at_x.stage, last_w = at_w.stage;
      at_x.advance(x), at_w.advance(w);
      if (k8Bits && !kIntegers && chunk % kPromoted == kPromoted - 1) promote(d, own_sums);
    }
    if constexpr (k8Bits)
      promote(d, own_sums);
    else
      wgmma_wait<0>();
  }

  // Waits until no warp reads the rings any more; compute-sanitizer's race checker would misread a named barrier here.
  __device__ void wait_for_multipliers() const {
    if (lane() == 0) barrier_arrive(multiplied);
    barrier_wait(multiplied, 0);
  }

  // ---- sums over the cluster: a group of tokens goes to the block that finishes the group

  __device__ void keep(const float (&d)[kRows / 2]) const {
    const uint32_t token = warp() * 16 + lane() / 4;
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      if (warp() * 2 + h >= groups) break;
      const uint32_t at = sums + (token + 8 * h) * kPitch + lane() % 4 * 8;
#pragma unroll
      for (uint32_t j = 0; j < kRows / 8; ++j)
        store_shared(at + j * 32, d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
    }
  }
  __device__ void send() const {
    const uint32_t group = warp() * 2 + lane(), to = group % kSplit;
    if (lane() >= 2 || group >= groups || to == rank) return;
    const uint32_t slot = rank - (rank > to);
    const uint32_t at = inbox + slot * slot_bytes + group / kSplit * kGroupBytes;
    send_to_peer({peer_address(at, to), peer_address(received, to)}, sums + group * kGroupBytes, kGroupBytes);
  }

  // ---- the result: a thread finishes four neighbouring columns of every kRound-th row, a token of this block, and
  // with them their partners

  static constexpr uint32_t kQuads = kRows / (kPaired ? 8 : 4), kRound = kSkinnyThreads / kQuads;
  struct Place {
    uint32_t row, first, column;  // first: the column in the tile; column: the column of out
    bool valid;
  };
  __device__ Place place() const {
    const uint32_t row = threadIdx.x / kQuads, first = threadIdx.x % kQuads * 4;
    return {row, first, column + first, row < kRound && column + first < a.n};
  }
  __device__ uint32_t token_of_tile(uint32_t row) const { return (row / 8 * kSplit + rank) * 8 + row % 8; }
  __device__ uint32_t token(uint32_t row) const { return first_token + token_of_tile(row); }
  __device__ float4 bias_at(uint32_t column) const { return kPlain ? float4{} : load_bias(a.end, column); }
  __device__ bool is_token(uint32_t row) const { return row < own_groups * 8 && token(row) < a.m; }
  __device__ float4 residual_at(uint32_t row, uint32_t at) const {
    if (!is_token(row)) return {};
    if constexpr (!kPlain) return load_residual(a.end, token(row), at);
    return load4(a.end.residual, DType::f32, token(row) * a.end.residual_stride + at);
  }
  __device__ float factor(uint32_t row) const {
    const float of_norm = a.begin.squares ? load_shared<float>(factors + row * 4) : 1.0f;
    if (!k8Bits || a.end.x_scale == 0 || !is_token(row)) return of_norm;
    return of_norm * reinterpret_cast<const float*>(a.end.x_scale)[token(row)];
  }
  // Scales four columns of products of 8 bits.
  __device__ float4 scales_at(uint32_t column) const {
    if constexpr (!k8Bits) return {};
    return load4(a.end.w_scale, DType::f32, column);
  }
  static __device__ float4 scaled(float4 y, float4 scales) {
    if constexpr (!k8Bits) return y;
    return y * scales;
  }
  // Returns this block's sum plus the others' sums in the order of their ranks.
  __device__ float4 sum(uint32_t row, uint32_t first) const {
    const uint32_t in_row = first * 4, others = inbox + row * kPitch + in_row;
    float4 part[kSplit];
    part[0] = load_shared<float4>(sums + token_of_tile(row) * kPitch + in_row);
#pragma unroll
    for (uint32_t s = 1; s < kSplit; ++s) part[s] = load_shared<float4>(others + (s - 1) * slot_bytes);
#pragma unroll
    for (uint32_t s = 1; s < kSplit; ++s) part[0] = part[0] + part[s];
    return part[0];
  }
  __device__ void wait_for_sums() const {
    sync_block();  // for this block's sums
    if (kSplit == 1) return;
    barrier_wait(received, 0);
    sync_warp();
    cluster_arrive();  // this block has received all its peers' sums
  }
  static __device__ float4 plus(float4 y, float4 addend) {
    if constexpr (kPlain) return y;
    return y + addend;
  }
  __device__ void store(uint32_t row, uint32_t at, float4 y) const {
    const int64_t to = static_cast<int64_t>(token(row)) * a.n + at;
    if (k8Bits && is_eight_bits(a.end.out_type))
      element<uint32_t>(a.end.out, to / 4) = pack_as(a.end.out_type, y * a.end.factor);
    else
      store4(a.end.out, kPlain ? DType::bf16 : a.end.out_type, to, y);
  }
  __device__ void store_normed(uint32_t to, float4 y) const {
    if (is_eight_bits(a.end.scaled_type))
      element<uint32_t>(a.end.scaled, to / 4) = pack_as(a.end.scaled_type, y);
    else
      store4(a.end.scaled, DType::bf16, to, y);
  }

  __device__ float4 activated(float4 y) const {
    if (a.end.activation != Activation::gelu || a.end.out_type == DType::f32) return activate4(a.end.activation, y);
    return {narrow_gelu(y.x), narrow_gelu(y.y), narrow_gelu(y.z), narrow_gelu(y.w)};
  }
  __device__ void finish_rows() const {
    const Place at = place();
    float4 bias{}, up_bias{}, residual{}, scales{}, up_scales{};
    if (k8Bits && at.valid) {
      scales = scales_at(at.column);
      if (kGated) up_scales = scales_at(a.n + at.column);
    }
    if (!kPlain && at.valid) {
      bias = bias_at(at.column);
      if (kGated) up_bias = bias_at(a.n + at.column);
      residual = residual_at(at.row, at.column);
    }
    wait_for_sums();
    if (!at.valid) return;
#pragma unroll 1
    for (uint32_t row = at.row; row < own_groups * 8; row += kRound) {
      const float4 next = kPlain ? float4{} : residual_at(row + kRound, at.column);
      const float r = factor(row);
      float4 y = activated(plus(scaled(sum(row, at.first) * r, scales), bias));
      if (kGated) y = y * plus(scaled(sum(row, at.first + kRows / 2) * r, up_scales), up_bias);
      if (token(row) < a.m) store(row, at.column, plus(y, residual));
      residual = next;
    }
  }

  // Stores three results. This thread has four columns of a row, and eight threads have a run. Tiles hold whole runs,
  // and all columns are valid.
  __device__ void finish_for_norm() const {
    static_assert(kRows % kNormRun == 0);
    const Place at = place();
    const float4 bias = bias_at(at.column), scale = load4(a.end.scale, DType::f32, at.column);
    const float4 scales = scales_at(at.column);
    float4 residual = residual_at(at.row, at.column);
    wait_for_sums();
#pragma unroll 1
    for (uint32_t row = at.row; row < own_groups * 8; row += kRound) {  // the same for all lanes of a warp
      const float4 next = residual_at(row + kRound, at.column);
      float4 y = sum(row, at.first);
      if constexpr (k8Bits || !kPlain) y = scaled(y * factor(row), scales);
      if constexpr (!kPlain) y = activate4(a.end.activation, y + bias);
      y = y + residual;
      const uint32_t to = token(row) * a.n + at.column;
      if (token(row) < a.m) store4(a.end.out, DType::f32, to, y), store_normed(to, y * scale);
      const float run = lanes_sum<kNormRun / 4>(sum_of(y * y));
      if (token(row) < a.m && at.column % kNormRun == 0)
        reinterpret_cast<float*>(a.end.means)[to / kNormRun] = run / kNormRun;
      residual = next;
    }
  }

  __device__ Angles angles_at(uint32_t row, uint32_t at) const {
    if (at >= a.end.rotated || !is_token(row)) return {};
    const AngleTypes type{kPlain ? DType::f32 : a.end.cos_type, kPlain ? DType::f32 : a.end.sin_type};
    return load_angles(a.end, type, token(row), at);
  }
  __device__ void finish_rotated() const {
    const Place at = place();
    const float4 bias = bias_at(at.column), upper_bias = bias_at(at.column + a.end.half);
    const float4 scales = at.valid ? scales_at(at.column) : float4{};
    const float4 upper_scales = at.valid ? scales_at(at.column + a.end.half) : float4{};
    Angles angles = angles_at(at.row, at.column);
    wait_for_sums();
#pragma unroll 1
    for (uint32_t row = at.row; row < own_groups * 8; row += kRound) {
      const Angles next = angles_at(row + kRound, at.column);
      const float r = factor(row);
      const float4 x = plus(scaled(sum(row, at.first) * r, scales), bias);
      const float4 upper_x = plus(scaled(sum(row, at.first + kRows / 2) * r, upper_scales), upper_bias);
      const bool rotates = at.column < a.end.rotated;
      if (token(row) < a.m) {
        store(row, at.column, rotates ? rotate_lower(angles, x, upper_x) : x);
        store(row, at.column + a.end.half, rotates ? rotate_upper(angles, x, upper_x) : upper_x);
      }
      angles = next;
    }
  }
  __device__ void finish() const {
    if constexpr (kEpilogue == SkinnyEpilogue::norm || kEpilogue == SkinnyEpilogue::norm_any)
      finish_for_norm();
    else if constexpr (kRotated)
      finish_rotated();
    else
      finish_rows();
  }
};

template <SkinnyConfig config>
__device__ void multiply_and_send(const Skinny<config>& work) {
  float d[config.rows / 2];
  work.multiply(d);
  work.wait_for_multipliers();
  work.keep(d);
  if (config.split == 1) return;
  stores_before_copies();
  sync_warp();
  work.send();
}

template <SkinnyConfig config>
__device__ void linear_skinny(const LinearSkinnyArguments& a) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  allow_dependents();
  const Skinny<config> work(a, shared_address(shared_memory));
  const int role = shuffle(warp(), 0);  // the compiler knows that it is uniform, and keeps addresses once for a warp
  const bool fetches_w = role == kMultipliers / kLanes, fetches_x = role == kMultipliers / kLanes + 1;
  if (fetches_w) work.init_barriers();
  if (fetches_w && elect_lane()) prefetch_map(a.w);
  if (fetches_x && elect_lane()) prefetch_map(a.x);
  sync_block();
  if (fetches_w && elect_lane()) work.expect_sums();
  if (config.split > 1) cluster_arrive();  // the barriers can be used
  if (fetches_w) work.fetch_first_w();
  work.meet_peers();
  if (role < kMultipliers / kLanes) {
    multiply_and_send(work);  // the warp that fetches x has waited for producers; only the result reads other writes
    wait_for_producers();
  } else {
    if (fetches_w) work.fetch_other_w();
    wait_for_producers();
    if (fetches_x) work.fetch_x();
    if (a.begin.squares && role >= kMultipliers / kLanes + 2) work.find_factors(role - (kMultipliers / kLanes + 2));
  }
  work.finish();
  sync_warp();
  if (config.split > 1) cluster_wait();
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kSkinnyThreads, 2) \
      entry(const __grid_constant__ LinearSkinnyArguments a) { linear_skinny<SkinnyConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_skinny.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
