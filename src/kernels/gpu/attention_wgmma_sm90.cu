// Attention in which warpgroups multiply: each keeps 64 query rows and has the product of the next keys under way while
// it turns the last scores into weights. The blocks of a cluster may split the keys; each then finishes some of the
// rows, from what the others send it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention.cuh"
#include "kernels/gpu/attention_ring_sm90.cuh"
#include "kernels/gpu/wgmma_sm90.cuh"

namespace rung::gpu {
namespace {

constexpr int kGroupWarps = kGroupThreads / kLanes;
using Scores = FragmentC[kTileKeys / 8];

// word[i] of lane j, of four neighbouring lanes, becomes word[j] of lane i.
__device__ inline void transpose_4(uint32_t (&word)[4]) {
  auto exchange = [](uint32_t& low, uint32_t& high, int step) {
    const bool upper = lane() & step;
    const uint32_t x = shuffle_xor(upper ? low : high, step);
    low = upper ? x : low, high = upper ? high : x;
  };
  exchange(word[0], word[1], 1), exchange(word[2], word[3], 1);
  exchange(word[0], word[2], 2), exchange(word[1], word[3], 2);
}

// One warpgroup.
template <class T, GroupAttentionShape shape>
struct Group {
  const AttentionRows rows;
  const int first_row, group;  // of the block; of this thread
  const Memory<shape>& memory;
  Turn turn;      // of the next tile to be read
  int taken = 0;  // tiles
  FragmentC sums[shape.width / 8];
  FragmentA weights[kTileKeys / 16];
  Running running[2];
  // What is added to the scores of the next tile, where eight rows share it: of rows `half` and keys 2 lane() and the
  // next.
  const bool shared_mask;
  float2 mask[2];

  __device__ Group(const AttentionArguments& a, const Memory<shape>& memory, int first_row)
      : rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)},
        first_row(first_row),
        group(shuffle(warp() / kGroupWarps, 0)),
        memory(memory),
        shared_mask(a.mask && a.mask_stride[1] == 0 && a.ratio % 8 == 0) {}
  // Of the block; this lane's other row is 8 further on.
  __device__ int my_row() const { return warp() * 16 + lane() / 4; }

  __device__ void release(const Turn& of) const {
    if (lane() == 0) memory.empty(of.slot).arrive();
  }
  __device__ Turn take(Loader<shape>& loader) {
    ++taken;
    if (loader.works() && loader.issued < taken) loader.refill(taken);
    const Turn now = turn;
    memory.full(now.slot).wait(now.round);
    turn.advance(memory.tiles);
    return now;
  }
  __device__ void dot(Scores& scores, const Turn& keys) const {
    const uint32_t q = shared_address(memory.queries()) + group * shape.panels() * 64 * 128;
    const uint32_t k = shared_address(memory.tile(keys.slot));
#pragma unroll
    for (int step = 0; step < shape.width / 16; ++step) {
      const uint32_t at = step / 4 * 64 * 128 + step % 4 * 32;
      multiply_group<T>(scores, panel_descriptor(q + at, 0), panel_descriptor(k + at, 0), step > 0);
    }
    commit_products();
  }
  __device__ void add_values(const Turn& values) {
    const uint32_t v = shared_address(memory.tile(values.slot));
#pragma unroll
    for (int step = 0; step < kTileKeys / 16; ++step)
      multiply_group<T>(sums, weights[step], panel_descriptor(v + step * 16 * 128, kTileKeys * 128));
    commit_products();
  }
  // What is added to the scores; loaded before them, for it comes from afar.
  __device__ void load_mask(Scores& bias, const KeyTile& tile) const {
    const int64_t stride = rows.a.mask_stride[3];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* from = rows.mask(min(first_row + my_row() + half * 8, rows.count() - 1)) + tile.number * stride;
#pragma unroll
      for (int j = 0; j < kTileKeys / 8; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) bias[j].x[2 * half + i] = from[min(key(j, i), tile.count - 1) * stride];
    }
  }
  __device__ void load_shared_mask(const KeyTile& tile) {
    const int64_t stride = rows.a.mask_stride[3];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* from = rows.mask(min(first_row + warp() * 16 + half * 8, rows.count() - 1)) + tile.number * stride;
      mask[half].x = from[min(2 * lane(), tile.count - 1) * stride];
      mask[half].y = from[min(2 * lane() + 1, tile.count - 1) * stride];
    }
  }
  // Nothing, most often.
  __device__ bool shared_mask_adds() const {
    return any_lane(mask[0].x != 0.0f || mask[0].y != 0.0f || mask[1].x != 0.0f || mask[1].y != 0.0f);
  }
  __device__ void scale_and_add_shared_mask(Scores& scores) const {
#pragma unroll
    for (int j = 0; j < kTileKeys / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        scores[j].x[i] =
            scores[j].x[i] * rows.a.scale + shuffle(i % 2 ? mask[i / 2].y : mask[i / 2].x, 4 * j + lane() % 4);
  }
  __device__ static int key(int j, int i) { return j * 8 + lane() % 4 * 2 + i % 2; }  // in its tile, of scores[j].x[i]
  __device__ void scale_and_add(Scores& scores, const Scores& bias) const {
#pragma unroll
    for (int j = 0; j < kTileKeys / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) scores[j].x[i] = scores[j].x[i] * rows.a.scale + bias[j].x[i];
  }
  __device__ void scale(Scores& scores) const {
#pragma unroll
    for (FragmentC& s : scores)
#pragma unroll
      for (float& x : s.x) x *= rows.a.scale;
  }
  __device__ static void cut(Scores& scores, const KeyTile& tile) {
    if (tile.count == kTileKeys) return;
#pragma unroll
    for (int j = 0; j < kTileKeys / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (key(j, i) >= tile.count) scores[j].x[i] = -INFINITY;
  }

  // Scores of this block, while the last block's values are added.
  template <bool first, bool masked>
  __device__ void step(Loader<shape>& loader, const KeyTile& tile, int next) {
    Scores scores, bias;
    float factor[2];
    if (masked && !shared_mask) load_mask(bias, tile);
    const Turn keys = take(loader);
    Turn values;
    if constexpr (!first) values = take(loader);
    pin(scores), pin(sums);
    begin_products();
    dot(scores, keys);
    if constexpr (!first) add_values(values);
    if (loader.works()) loader.refill(0);
    wait_products<first ? 0 : 1>();
    pin(scores);
    release(keys);
    if (masked && !shared_mask)
      scale_and_add(scores, bias);
    else if (masked && shared_mask_adds())
      scale_and_add_shared_mask(scores);
    else
      scale(scores);
    if (masked && shared_mask) load_shared_mask(KeyTile(rows.a, next));
    cut(scores, tile);
    soften(scores, running, factor);
    hold(running[0].sum + running[1].sum);
    wait_products<0>();
    pin(sums);
    if constexpr (!first) release(values), rescale(sums, factor);
#pragma unroll
    for (int j = 0; j < kTileKeys / 16; ++j) weights[j] = a_from_c<T>(scores[2 * j], scores[2 * j + 1]);
  }
  // Of all this block's tiles.
  template <bool masked>
  __device__ void steps(Loader<shape>& loader, int rank, int blocks) {
    if (masked && shared_mask && blocks > 0) load_shared_mask(KeyTile(rows.a, rank));
    memory.queries_came().wait(0);
    for (int block = 0; block < blocks; ++block) {
      const KeyTile tile(rows.a, rank + block * memory.splits);
      const int next = rank + min(block + 1, blocks - 1) * memory.splits;
      if (block == 0)
        step<true, masked>(loader, tile, next);
      else
        step<false, masked>(loader, tile, next);
    }
  }
  __device__ void finish(Loader<shape>& loader) {
    const Turn values = take(loader);
    pin(sums);
    begin_products();
    add_values(values);
    wait_products<0>();
    pin(sums);
  }

  __device__ Running statistics(int half) const { return {running[half].largest, lanes_sum<4>(running[half].sum)}; }
  // 4 times 2 columns of one row, each 8 columns further on, in T.
  __device__ void piece(int half, int i, float factor, uint32_t (&x)[4]) const {
#pragma unroll
    for (int j = 4 * i; j < 4 * i + 4; ++j)
      x[j % 4] = j < shape.width / 8 ? pack<T>(sums[j].x[2 * half] * factor, sums[j].x[2 * half + 1] * factor) : 0;
  }
  // This block has all keys.
  __device__ void store_sums() const { store_sums({fast_inverse(statistics(0).sum), fast_inverse(statistics(1).sum)}); }
  __device__ void store_sums(const float (&factors)[2]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float factor = factors[half];
      const int row = first_row + my_row() + 8 * half;
      T* const to = rows.out<T>(min(row, rows.count() - 1)) + lane() % 4 * 8;
#pragma unroll
      for (int i = 0; i < shape.sum_bytes() / 64; ++i) {
        uint32_t x[4];
        piece(half, i, factor, x);
        transpose_4(x);
        if (row < rows.count() && i * 32 + lane() % 4 * 8 < rows.a.width)
          *reinterpret_cast<uint4*>(to + i * 32) = make_uint4(x[0], x[1], x[2], x[3]);
      }
    }
  }
  // Two blocks of two warpgroups: each block finishes the rows of the warpgroup whose number is its rank. The other
  // warpgroup sends its sums, divided by their weights' sum, and its statistics to the threads that have the same rows.
  __device__ void send_to_pair() const {
    const Running own[2] = {statistics(0), statistics(1)};
    const uint32_t to = peer_address(pair_place(), group), barrier = peer_address(&memory.sums_came(), group);
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) factor[half] = own[half].sum > 0.0f ? fast_inverse(own[half].sum) : 0.0f;
    send(to,
         {__float_as_uint(own[0].largest), __float_as_uint(own[0].sum), __float_as_uint(own[1].largest),
          __float_as_uint(own[1].sum)},
         barrier);
#pragma unroll
    for (int j = 0; j < shape.width / 8; j += 2) {
      uint32_t x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* from = sums[j + i / 2].x + i % 2 * 2;
        x[i] = pack<T>(from[0] * factor[i % 2], from[1] * factor[i % 2]);
      }
      send(to + (j / 2 + 1) * kGroupThreads * 16, x, barrier);
    }
  }
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
      const float factor = fast_inverse(own.sum * mine[half] + theirs[half]);
      mine[half] *= factor, theirs[half] *= factor;
    }
#pragma unroll
    for (int j = 0; j < shape.width / 8; j += 2) {
      const auto part = *reinterpret_cast<const uint4*>(from + (j / 2 + 1) * kGroupThreads * 16);
      const uint32_t words[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float* x = sums[j + i / 2].x + i % 2 * 2;
        const float2 both = unpack<T>(words[i]);
        x[0] = x[0] * mine[i % 2] + both.x * theirs[i % 2], x[1] = x[1] * mine[i % 2] + both.y * theirs[i % 2];
      }
    }
    store_sums({1.0f, 1.0f});
  }
  // Sums divided by their weights' sum, and each row's statistics: to the block that finishes the row.
  __device__ void send_sums() const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Running own = statistics(half);
      const float factor = own.sum > 0.0f ? fast_inverse(own.sum) : 0.0f;
      const Way way = way_of(half);
      if (lane() % 4 == 0) way.pass_statistics(own);
#pragma unroll
      for (int i = 0; i < shape.sum_bytes() / 64; ++i) {
        uint32_t x[4];
        piece(half, i, factor, x);
        way.pass(i * 64, x);
      }
    }
  }

 private:
  // 16 bytes of each thread of a warpgroup, and so on.
  __device__ unsigned char* pair_place() const { return memory.received() + threadIdx.x % kGroupThreads * 16; }
  // Where a row of this lane goes, in the shared memory of the block that finishes it.
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
    const int own = shape.own_rows(memory.splits), row = my_row() + 8 * half;
    const int to = row / own, at = cluster_rank() * own + row % own;
    const void* const place = memory.received() + at * shape.sum_bytes() + lane() % 4 * 16;
    if (to == cluster_rank()) return {true, shared_address(place), shared_address(memory.statistics() + at), 0};
    return {false, peer_address(place, to), peer_address(memory.statistics() + at, to),
            peer_address(&memory.sums_came(), to)};
  }
};

// The rows that this block finishes, added over the blocks of the cluster in their order.
template <class T, GroupAttentionShape shape>
struct Finish {
  static constexpr int kPieces = shape.sum_bytes() / 16;
  const AttentionRows rows;
  const Memory<shape>& memory;
  const int first_row, own;

  __device__ bool is_pair() const { return shape.groups == 2 && memory.splits == 2; }
  // From the other blocks.
  __device__ uint32_t expected_bytes() const {
    if (is_pair()) return (shape.width / 16 + 1) * kGroupThreads * 16;
    const int mine = max(0, min(own, shape.rows() - cluster_rank() * own));
    return static_cast<uint32_t>((memory.splits - 1) * mine * (shape.sum_bytes() + 8));
  }
  // What each part of a row counts in the whole; 16 lanes have the parts of a row. Ends with a barrier.
  __device__ void weigh() const {
    constexpr int kParts = 16;
    const int source = lane() % kParts;
    for (int first = warp() * 2; first < own; first += shape.threads() / kParts) {
      const int row = first + lane() / kParts, at = source * own + row;
      const bool valid = row < own && source < memory.splits;
      const Running part = valid ? memory.statistics()[at] : Running{};
      Running total;
      total.largest = lanes_max<kParts>(part.largest);
      const float weight = part.sum * total.weight(part.largest), sum = lanes_sum<kParts>(weight);
      if (valid) memory.factors()[at] = weight * fast_inverse(sum);
    }
    sync_block();
  }
  // 4 times 2 columns of one row, each 8 columns further on.
  __device__ void piece(int row, int piece, uint32_t (&out)[4]) const {
    constexpr int kTogether = 4;
    float x[8] = {};
    for (int first = 0; first < memory.splits; first += kTogether) {
      uint4 part[kTogether];
      float factor[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int at = min(first + i, memory.splits - 1) * own + row;
        part[i] = reinterpret_cast<const uint4*>(memory.received() + at * shape.sum_bytes())[piece];
        factor[i] = memory.factors()[at];
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i)
        if (first + i < memory.splits) add(x, part[i], factor[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) out[i] = pack<T>(x[2 * i], x[2 * i + 1]);
  }
  __device__ static void add(float (&x)[8], const uint4& part, float factor) {
    const uint32_t words[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 both = unpack<T>(words[i]);
      x[2 * i] += factor * both.x, x[2 * i + 1] += factor * both.y;
    }
  }
  __device__ void run() const {
    weigh();
    const int begin = cluster_rank() * own;
    const int pieces = min(own, min(shape.rows() - begin, rows.count() - first_row - begin)) * kPieces;
    for (int first = warp() * kLanes; first < pieces; first += shape.threads()) {
      const int i = first + lane(), row = min(i, pieces - 1) / kPieces, d = i % kPieces * 8;
      uint32_t words[4];
      piece(row, i % kPieces, words);
      transpose_4(words);
      if (i < pieces && d < rows.a.width)
        *reinterpret_cast<uint4*>(rows.out<T>(first_row + begin + row) + d) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
};

template <GroupAttentionShape shape>
__device__ void make_barriers(const Memory<shape>& memory, uint32_t expected_bytes) {
  memory.queries_came().init(1), memory.sums_came().init(1);
  for (int slot = 0; slot < memory.tiles; ++slot)
    memory.full(slot).init(1), memory.empty(slot).init(shape.groups * kGroupWarps);
  publish_barriers();
  memory.sums_came().arrive_expecting(expected_bytes, true);
}

template <class T, GroupAttentionShape shape>
__device__ void attention(const GroupAttentionArguments& a) {
  extern __shared__ __align__(1024) unsigned char base[];
  const Memory<shape> memory{base, a.splits, a.tiles};
  const int first_row = static_cast<int>(blockIdx.x) / a.splits * shape.rows();
  // In the cluster; unlike cluster_rank() known to be uniform.
  const int rank = static_cast<int>(blockIdx.x) % a.splits;
  Group<T, shape> work(a.attention, memory, first_row);
  const Finish<T, shape> last{work.rows, memory, first_row, shape.own_rows(a.splits)};
  const int blocks = max(0, (key_tiles(a.attention) - rank + a.splits - 1) / a.splits);
  Loader<shape> loader{a, memory, first_row, rank, blocks, shuffle(warp(), 0)};
  allow_dependents();
  loader.prepare();
  if (threadIdx.x == 0) make_barriers(memory, last.expected_bytes());
  sync_block();
  wait_for_producers();
  if (loader.works()) loader.load_queries(), loader.refill(0);
  if (a.attention.mask)
    work.template steps<true>(loader, rank, blocks);
  else
    work.template steps<false>(loader, rank, blocks);
  if (a.splits > 1) cluster_arrive();  // queries are no longer read
  if (blocks > 0) work.finish(loader);
  if (a.splits == 1) return work.store_sums();
  cluster_wait();
  if (last.is_pair()) {
    if (work.group != rank) return work.send_to_pair();
    memory.sums_came().wait(0);
    return work.finish_pair();
  }
  work.send_sums();
  sync_block();
  memory.sums_came().wait(0);
  last.run();
}

}  // namespace

#define RUNG_ATTENTION(type, width, groups)                                                            \
  extern "C" __global__ void __launch_bounds__(128 * groups, 1)                                        \
      attention_wgmma_##type##_##width##_##groups(const __grid_constant__ GroupAttentionArguments a) { \
    attention<type, GroupAttentionShape{width, groups}>(a);                                            \
  }
#define RUNG_ATTENTION_WIDTHS(type) \
  RUNG_ATTENTION(type, 80, 1)       \
  RUNG_ATTENTION(type, 80, 2)       \
  RUNG_ATTENTION(type, 128, 1)      \
  RUNG_ATTENTION(type, 128, 2)      \
  RUNG_ATTENTION(type, 256, 1)      \
  RUNG_ATTENTION(type, 256, 2)
RUNG_ATTENTION_WIDTHS(bf16)
RUNG_ATTENTION_WIDTHS(f16)

}  // namespace rung::gpu
