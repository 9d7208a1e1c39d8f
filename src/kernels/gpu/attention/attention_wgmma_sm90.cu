// Attention in which warpgroups multiply: each keeps 64 query rows and has the product of the next keys under way while
// it turns the last scores into weights, and one more warpgroup loads. The blocks of a cluster may split the keys; each
// then finishes some of the rows, from the sums that the others send.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/attention_finish_sm90.cuh"
#include "kernels/gpu/attention/attention_result_sm90.cuh"
#include "kernels/gpu/attention/attention_ring_sm90.cuh"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/sm90/shared_memory.cuh"
#include "kernels/gpu/sm90/warpgroup.cuh"
#include "kernels/gpu/sm90/wgmma.cuh"

namespace rung::gpu {
namespace {

// A score may exceed the base of the weights so far by this much before the sums are scaled again.
constexpr float kSlack = 5.5f;

// The work of one warpgroup that multiplies.
template <GroupAttentionConfig config>
struct Group {
  using T = Element<config.type>;
  using Tiles = TilesOf<config>;
  using Tile = TileOf<config>;
  static constexpr int kKeys = config.keys;  // of a tile
  using Scores = FragmentC[kKeys / 8];
  const AttentionRows rows;
  const int first_row, group;  // the block's first row; this thread's warpgroup
  const Memory<config> memory;
  const int mask_shift;
  PipelineState state;       // of the next tile to be read
  PipelineState values{-1};  // the values being added; none at first
  FragmentC sums[config.width / 8];
  FragmentA weights[kKeys / 16];
  Running running[2];
  int places[2];  // of the queries of this lane's rows, for spans

  __device__ Group(const GroupAttentionArguments& a, const AttentionRows& rows, const Memory<config>& memory,
                   int first_row)
      : rows(rows),
        first_row(first_row),
        group(shuffle(warp() / kGroupWarps, 0)),
        memory(memory),
        mask_shift(a.mask_shift) {}
  // Returns this lane's first row in the block; its other row is 8 further on.
  __device__ int my_row() const { return warp() * 16 + lane() / 4; }

  __device__ void release(const PipelineState& of) const {
    if (lane() == 0) memory.empty(of.slot).arrive();
  }
  __device__ PipelineState take() {
    const PipelineState now = state;
    memory.full(now.slot).wait(now.round);
    state.advance(memory.tiles);
    return now;
  }
  __device__ void dot(Scores& scores, const PipelineState& keys) const {
    const uint32_t q = shared_address(memory.queries()) + group * config.panels() * 64 * 128;
    const uint32_t k = shared_address(memory.tile(keys.slot));
    const uint64_t all_q = panel_descriptor(q, 0), all_k = panel_descriptor(k, 0);
#pragma unroll
    for (int step = 0; step < config.width / 16; ++step) {
      const uint32_t panel = step / 4 * 128, at = step % 4 * 32;
      multiply_group<T>(scores, advance(all_q, panel * 64 + at), advance(all_k, panel * kKeys + at), step > 0);
    }
    commit_products();
  }
  __device__ void add_values(const PipelineState& values) {
    const uint64_t v = panel_descriptor(shared_address(memory.tile(values.slot)), kKeys * 128);
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) multiply_group<T>(sums, weights[step], advance(v, step * 16 * 128));
    commit_products();
  }
  __device__ static int key(int j, int i) { return j * 8 + lane() % 4 * 2 + i % 2; }  // of scores[j].x[i], in its tile
  // The mask is loaded before the scores that it is added to, because it comes from memory.
  __device__ void load_mask(Scores& bias, const Tile& tile) const {
    const int64_t stride = rows.a.mask_stride[3];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* from = rows.mask(min(first_row + my_row() + half * 8, rows.count() - 1)) + tile.number() * stride;
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) bias[j].x[2 * half + i] = from[min(key(j, i), tile.count - 1) * stride];
    }
  }
  __device__ void scale_and_add(Scores& scores, const Scores& bias) const {
#pragma unroll
    for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) scores[j].x[i] = scores[j].x[i] * rows.a.scale + bias[j].x[i];
  }
  __device__ __forceinline__ void scale_and_add_copied(Scores& scores, const PipelineState& keys) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = (warp() * 2 + half) >> mask_shift;
      const unsigned char* const from =
          memory.mask(keys.slot) + row * 128 + ((lane() / 2 ^ row) % 2 * 2 + lane() % 2) * 8;
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j) {
        const int chunks = (j % 4 * 2 ^ (row & 6)) * 16;
        const auto both = *reinterpret_cast<const float2*>(from + j / 4 * config.mask_panel_bytes() + chunks);
        float* const x = scores[j].x + 2 * half;
        x[0] = x[0] * rows.a.scale + both.x, x[1] = x[1] * rows.a.scale + both.y;
      }
    }
    sync_warp();
  }
  __device__ static void cut(Scores& scores, const Tile& tile) {
    if (tile.count == kKeys) return;
#pragma unroll
    for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (key(j, i) >= tile.count) scores[j].x[i] = -INFINITY;
  }
  // Takes away the keys behind the tile's last one, and those that this lane's rows do not see, whose queries stand at
  // `places`. Where no window begins in the tile, a row sees the keys up to one of them: a comparison for each score.
  __device__ __forceinline__ void hide(Scores& scores, const Tiles& tiles, const Tile& tile) const {
    const AttentionSpan& span = rows.a.span;
    const int prefix = min(tiles.present().prefix - tile.number(), tile.count);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int place = places[half] - tile.number(), from = span.sees_all ? 0 : place - span.before;
      const int last = span.sees_all ? tile.count - 1 : min(place + span.after, tile.count - 1);
      if (from <= max(prefix, 0)) {
        hide(scores, half, max(last, prefix - 1));
      } else {
#pragma unroll
        for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
          for (int i = 0; i < 2; ++i)
            if (const int own = key(j, i); (own < from || own > last) && own >= prefix)
              scores[j].x[2 * half + i] = -INFINITY;
      }
    }
  }
  // Takes away the keys behind number `last` of the tile.
  __device__ __forceinline__ void hide(Scores& scores, int half, int last) const {
    if (last >= kKeys - 1) return;
#pragma unroll
    for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        if (key(j, i) > last) scores[j].x[2 * half + i] = -INFINITY;
  }
  // Puts zeros in place of the values behind a tile's last key: a cache may hold anything there. Each warpgroup does so
  // before it multiplies them; that another one does the same meanwhile changes nothing.
  __device__ void clear_rest(const PipelineState& values, const Tile& tile) const {
    if (tile.count == kKeys) return;
    const int thread = static_cast<int>(threadIdx.x) % kGroupThreads;
#pragma unroll
    for (int panel = 0; panel < config.panels(); ++panel) {
      auto* const chunks = reinterpret_cast<uint4*>(memory.tile(values.slot) + panel * kKeys * 128);
      for (int i = tile.count * 8 + thread; i < kKeys * 8; i += kGroupThreads) chunks[i] = {};
    }
    fence_for_matrix_units();
    sync_own_group();
  }
  __device__ void sync_own_group() const {
    asm volatile("bar.sync %0, %1;" ::"r"(2 + group), "n"(kGroupThreads) : "memory");
  }
  // Turns scores into weights; `factor` is for the earlier sums. Scores with a mask are scaled already, and may be as
  // low as floats go. A span may hide all keys of a tile.
  __device__ __forceinline__ void soften(Scores& scores, float (&factor)[2]) {
    constexpr bool is_span = config.mask == MaskKind::span, is_plain = is_span || config.mask == MaskKind::none;
    const float unit = is_plain ? rows.a.scale : 1.0f;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Running& row = running[half];
      float largest = -INFINITY, sum = 0.0f;
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
        largest = fmaxf(largest, fmaxf(scores[j].x[2 * half], scores[j].x[2 * half + 1]));
      largest = lanes_max<4>(largest) * unit;
      factor[half] = row.raise(largest > row.largest + kSlack ? largest : row.largest);
      const float base = (is_span && row.largest == -INFINITY ? 0.0f : row.largest) * kLog2E;
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          float& x = scores[j].x[i];
          sum += x = is_plain ? fast_exp2(fmaf(x, unit * kLog2E, -base)) : row.weight(x);
        }
      row.sum += sum;
    }
  }

  // Turns the scores of a tile into weights, while the last tile's values are added.
  __device__ __forceinline__ void weigh(Scores& scores, const Tiles& tiles, const Tile& tile) {
    float factor[2];
    if constexpr (config.mask == MaskKind::span)
      hide(scores, tiles, tile);
    else
      cut(scores, tile);
    soften(scores, factor);
    hold(running[0].sum + running[1].sum);
    wait_products<0>();
    pin(sums);
    if (values.slot >= 0) release(values);
    rescale(sums, factor);
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) weights[j] = a_from_c<T>(scores + 2 * j);
  }
  // Takes finished scores, and adds their mask.
  __device__ __forceinline__ void take_scores(Scores& scores, const Scores& bias, const PipelineState& keys) const {
    pin(scores);
    if (config.mask == MaskKind::copied) scale_and_add_copied(scores, keys);
    release(keys);
    if (config.mask == MaskKind::read) scale_and_add(scores, bias);
  }
  __device__ void queries_read() const {
    if (memory.splits > 1) cluster_arrive();
  }
  // Goes through all tiles of this block: the next tile's scores are computed while this one's values are added.
  __device__ __forceinline__ void steps(const Tiles& tiles, const KeyShare& share) {
    memory.queries_came().wait(0);
    if (share.blocks == 0) return queries_read();
    if constexpr (config.mask == MaskKind::span)
      for (int half = 0; half < 2; ++half)
        places[half] =
            tiles.present().place_of(query_of(rows.a, min(first_row + my_row() + 8 * half, rows.count() - 1)));
    Scores scores, bias;
    Tile tile(tiles, share.first);
    if (config.mask == MaskKind::read) load_mask(bias, tile);
    PipelineState keys = take();
    pin(scores);
    begin_products();
    dot(scores, keys);
    wait_products<0>();
    // The code that weighs scores stands here once: to fetch a second copy takes longer than a jump.
#pragma unroll 1
    for (int block = 1;; ++block) {
      take_scores(scores, bias, keys);
      if (block == share.blocks) queries_read();
      weigh(scores, tiles, tile);
      if (block == share.blocks) break;
      tile.advance(tiles, share.step);
      if (config.mask == MaskKind::read) load_mask(bias, tile);
      keys = take(), values = take();
      pin(scores), pin(sums);
      begin_products();
      dot(scores, keys);
      add_values(values);
      wait_products<1>();
    }
    values = take();
    if constexpr (config.mask == MaskKind::span) clear_rest(values, tile);
    pin(sums);
    begin_products();
    add_values(values);
    wait_products<0>();
    pin(sums);
  }
  __device__ Running statistics(int half) const { return {running[half].largest, lanes_sum<4>(running[half].sum)}; }
  // Gathers 4 pairs of columns of one row, each pair 8 columns further on.
  template <DType type>
  __device__ void piece(int half, int i, float factor, uint32_t (&x)[4]) const {
#pragma unroll
    for (int j = 4 * i; j < 4 * i + 4; ++j) {
      const float* from = sums[min(j, config.width / 8 - 1)].x + 2 * half;
      x[j % 4] = j < config.width / 8 ? pack_two<type>(from[0] * factor, from[1] * factor) : 0;
    }
  }
  // Stores the sums of a block that has all keys, or those that finish_pair() left.
  __device__ void store_sums(bool of_pair) const {
    float factors[2] = {rows.a.factor, rows.a.factor};
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (!of_pair) factors[half] *= inverse_of_sum(statistics(half).sum);
    by_result_type<config.type>(rows.a, [&](auto type) { store_sums_as<decltype(type)::value>(factors); });
  }
  template <DType type>
  __device__ __forceinline__ void store_sums_as(const float (&factors)[2]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float factor = factors[half];
      const int row = first_row + my_row() + 8 * half;
      auto* const to = rows.out<Element<type>>(min(row, rows.count() - 1)) + lane() % 4 * 8;
#pragma unroll
      for (int i = 0; i < config.sum_bytes() / 64; ++i) {
        uint32_t x[4];
        piece<type>(half, i, factor, x);
        transpose_4(x);
        if (row < rows.count() && i * 32 + lane() % 4 * 8 < rows.a.width) store_eight<type>(to + i * 32, x);
      }
    }
  }
  // In a pair of blocks of two warpgroups, a block finishes the rows of the warpgroup whose number is its rank. Its
  // other warpgroup sends its sums, divided by their weights' sum, and its statistics to the threads with those rows.
  __device__ void send_to_pair() const {
    const Running own[2] = {statistics(0), statistics(1)};
    const uint32_t to = peer_address(pair_place(), group), barrier = peer_address(&memory.sums_came(), group);
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) factor[half] = inverse_of_sum(own[half].sum);
    send(to,
         {__float_as_uint(own[0].largest), __float_as_uint(own[0].sum), __float_as_uint(own[1].largest),
          __float_as_uint(own[1].sum)},
         barrier);
#pragma unroll
    for (int j = 0; j < config.width / 8; j += 2) {
      uint32_t x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* from = sums[j + i / 2].x + i % 2 * 2;
        x[i] = pack<T>(from[0] * factor[i % 2], from[1] * factor[i % 2]);
      }
      send(to + (j / 2 + 1) * kGroupThreads * 16, x, barrier);
    }
  }
  // Adds the sums that the other block sent.
  __device__ void finish_pair() {
    const unsigned char* from = pair_place();
    const auto sent = *reinterpret_cast<const float4*>(from);
    const Running others[2] = {{sent.x, sent.y}, {sent.z, sent.w}};
    float mine[2], theirs[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Running own = statistics(half);
      Running total;
      total.largest = fmaxf(own.largest, others[half].largest);
      mine[half] = total.weight(own.largest), theirs[half] = others[half].sum * total.weight(others[half].largest);
      const float factor = inverse_of_sum(own.sum * mine[half] + theirs[half]);
      mine[half] *= factor, theirs[half] *= factor;
    }
#pragma unroll
    for (int j = 0; j < config.width / 8; j += 2) {
      const auto part = *reinterpret_cast<const uint4*>(from + (j / 2 + 1) * kGroupThreads * 16);
      const uint32_t words[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float* x = sums[j + i / 2].x + i % 2 * 2;
        const float2 both = unpack<T>(words[i]);
        x[0] = x[0] * mine[i % 2] + both.x * theirs[i % 2], x[1] = x[1] * mine[i % 2] + both.y * theirs[i % 2];
      }
    }
  }
  // Sends the sums, divided by their weights' sum, and each row's statistics to the block that finishes the row.
  __device__ void send_sums() const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Running own = statistics(half);
      const float factor = inverse_of_sum(own.sum);
      const Way way = way_of(half);
      if (lane() % 4 == 0) way.pass_statistics(own);
#pragma unroll
      for (int i = 0; i < config.sum_bytes() / 64; ++i) {
        uint32_t x[4];
        piece<config.type>(half, i, factor, x);
        way.pass(i * 64, x);
      }
    }
  }

 private:
  // The place has 16 bytes for each thread of a warpgroup, then 16 more for each, and so on.
  __device__ unsigned char* pair_place() const { return memory.received() + threadIdx.x % kGroupThreads * 16; }
  // The way of a row of this lane into the shared memory of the block that finishes it.
  struct Way {
    bool here;
    uint32_t sums, statistics, barrier;
    __device__ void pass(int offset, const uint32_t (&x)[4]) const {
      if (here)
        store_shared(sums + offset, x);
      else
        send(sums + offset, x, barrier);
    }
    __device__ void pass_statistics(const Running& x) const {
      if (here)
        store_shared(statistics, x.largest, x.sum);
      else
        send(statistics, x.largest, x.sum, barrier);
    }
  };
  __device__ Way way_of(int half) const {
    const int own = config.own_rows(memory.splits), row = my_row() + 8 * half;
    const int to = row / own, at = cluster_rank() * own + row % own;
    const void* const place = memory.received() + at * config.sum_bytes() + lane() % 4 * 16;
    if (to == cluster_rank()) return {true, shared_address(place), shared_address(memory.statistics() + at), 0};
    return {false, peer_address(place, to), peer_address(memory.statistics() + at, to),
            peer_address(&memory.sums_came(), to)};
  }
};

template <GroupAttentionConfig config>
__device__ void make_barriers(const Memory<config>& memory, uint32_t expected_bytes) {
  memory.queries_came().init(1), memory.sums_came().init(1);
  for (int slot = 0; slot < memory.tiles; ++slot)
    memory.full(slot).init(1), memory.empty(slot).init(config.groups * kGroupWarps);
  publish_barriers();
  memory.sums_came().arrive_expecting(expected_bytes, true);
}

template <GroupAttentionConfig config>
__device__ __forceinline__ void multiply(Group<config>& work, const Finish<config>& last, const TilesOf<config>& tiles,
                                         const KeyShare& share) {
  const Memory<config> memory = work.memory;
  work.steps(tiles, share);
  if (memory.splits > 1) {
    cluster_wait();  // no block reads queries any more
    if (!last.is_pair()) {
      work.send_sums();
      sync_multipliers<config>();
      memory.sums_came().wait(0);
      return last.run();
    }
    if (work.group != share.first) return work.send_to_pair();
    memory.sums_came().wait(0);
    work.finish_pair();
  }
  work.store_sums(memory.splits > 1);
}

// The work of a block: the number of its rows among those of its key head, and that head. Of spans the last rows see
// most keys: those of all heads begin first, so that no multiprocessor begins a long block when others are done.
struct Seat {
  int number, group;
};
template <GroupAttentionConfig config>
__device__ Seat seat_of_block(const GroupAttentionArguments& a) {
  const int number = static_cast<int>(blockIdx.x) / a.splits, group = static_cast<int>(blockIdx.y);
  if (config.mask != MaskKind::span) return {number, group};
  const int all = static_cast<int>(gridDim.x) / a.splits, groups = static_cast<int>(gridDim.y);
  const int turn = group * all + number;  // blocks begin in this order
  return {all - 1 - turn / groups, turn % groups};
}

template <GroupAttentionConfig config>
__device__ void attention(const GroupAttentionArguments& a) {
  extern __shared__ __align__(1024) unsigned char base[];
  const Memory<config> memory(a, base);
  const Seat seat = seat_of_block<config>(a);
  const int first_row = seat.number * config.rows();
  // The rank in the cluster; the compiler knows that it is uniform, unlike cluster_rank().
  const int rank = static_cast<int>(blockIdx.x) % a.splits;
  TilesOf<config> tiles(a.attention, first_row, config.rows());
  const auto share_of = [&](int count) {
    return KeyShare{rank, a.splits, max(0, (count - rank + a.splits - 1) / a.splits)};
  };
  KeyShare share = share_of(tiles.count());
  const auto read_length = [&] {
    if constexpr (config.mask == MaskKind::span) tiles.read_length(), share = share_of(tiles.count());
  };
  const AttentionRows rows{a.attention, static_cast<int>(blockIdx.z), seat.group};
  const Finish<config> last{rows, memory, first_row, config.own_rows(a.splits)};
  const Loader<config> loader{a, memory, first_row, seat.group};
  const int loading_warp = shuffle(warp(), 0) - config.groups * kGroupWarps;  // below 0: multiplies
  allow_dependents();
  if (loading_warp == 0 && lane() == 0) loader.prepare(tiles, share), make_barriers(memory, last.expected_bytes());
  sync_block();
  if (loading_warp >= 0) {
    if constexpr (config.groups > 1) setmaxnreg_dec<24>();
    if (loading_warp > 1 && lane() == 0) loader.prefetch_mask(tiles, share, loading_warp - 2, kGroupWarps - 2);
    wait_for_producers();
    // One warp loads queries, then keys; where keys bring a mask, whose copies take longer to issue, another warp loads
    // the queries meanwhile.
    constexpr int for_queries = config.mask == MaskKind::copied ? 1 : 0;
    if (loading_warp == for_queries && lane() == 0) loader.load_queries();
    read_length();
    if (loading_warp == 0 && lane() == 0) loader.fill_ring(tiles, share);
  } else {
    if constexpr (config.groups > 1) setmaxnreg_inc<config.groups == 2 ? 240 : 160>();
    wait_for_producers();
    read_length();
    Group<config> work(a, rows, memory, first_row);
    multiply(work, last, tiles, share);
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...)                                \
  RUNG_KERNEL((GroupAttentionConfig{__VA_ARGS__}.threads()), 1) \
  entry(const __grid_constant__ GroupAttentionArguments a) { attention<GroupAttentionConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/attention/attention_wgmma.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
