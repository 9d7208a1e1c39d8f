// Sums, means, maxima and running sums along an axis: a block per line, or if lines are neighbours a block per eight
// lines or a lane per line.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/reduce/reduce_arguments.hpp"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

// The partial result of a part of a line; `count` is the mask's sum.
template <class T>
struct Partial {
  T value{};
  float count = 0;
  bool empty = true;
};

template <class T>
__device__ void add(const ReduceArguments& a, Partial<T>& to, const Partial<T>& more) {
  if (more.empty) return;
  if (to.empty)
    to = more;
  else if (a.code == ReduceCode::max)
    to.value = Max{}(to.value, more.value);
  else
    to.value += more.value, to.count += more.count;
}

struct Begin {
  int64_t x = 0, mask = 0, out = 0;
};

__device__ Begin begin_of(const ReduceArguments& a, uint32_t line) {
  int64_t offsets[3] = {};
  a.lines.locate(line, offsets);
  return {offsets[0], offsets[1], offsets[2]};
}

// Reduces elements first, first + stride, ... of the line.
template <class T>
__device__ Partial<T> gather_part(const ReduceArguments& a, const Begin& begin, uint32_t first, uint32_t stride) {
  Partial<T> part;
#pragma unroll 8
  for (uint32_t i = first; i < a.length; i += stride) {
    Partial<T> next{load_as<T>(a.x, a.type, begin.x + i * a.step), 0, false};
    if (a.code == ReduceCode::masked_mean) {
      next.count = element<const float>(a.mask, begin.mask + i * a.mask_step);
      next.value = static_cast<T>(static_cast<float>(next.value) * next.count);
    }
    add(a, part, next);
  }
  return part;
}

template <class T>
__device__ void store_result(const ReduceArguments& a, const Begin& begin, const Partial<T>& total) {
  T value = total.value;
  if (a.code == ReduceCode::mean) value = static_cast<T>(static_cast<float>(value) / static_cast<float>(a.length));
  if (a.code == ReduceCode::masked_mean) value = static_cast<T>(static_cast<float>(value) / fmaxf(total.count, a.eps));
  store_as<T>(a.out, a.out_type, begin.out, value);
}

// A block reduces a line: a thread's loads follow each other, and many threads with few loads are faster than one warp.
template <class T>
__device__ void along_threads(const ReduceArguments& a) {
  __shared__ Room<Partial<T>, kMaxWarps> room;
  Partial<T>* parts = room.begin();
  allow_dependents();
  const Begin begin = begin_of(a, blockIdx.x);
  wait_for_producers();
  Partial<T> part = gather_part<T>(a, begin, threadIdx.x, blockDim.x);
#pragma unroll
  for (int mask = kLanes / 2; mask > 0; mask /= 2) {
    const Partial<T> other{shuffle_xor(part.value, mask), shuffle_xor(part.count, mask),
                           shuffle_xor(static_cast<int>(part.empty), mask) != 0};
    add(a, part, other);
  }
  if (lane() == 0) parts[warp()] = part;
  sync_block();
  if (threadIdx.x > 0) return;
  for (int i = 1; i < static_cast<int>(blockDim.x) / kLanes; ++i) add(a, part, parts[i]);
  store_result(a, begin, part);
}

constexpr int kWarps = static_cast<int>(kReduceThreads) / kLanes;
static_assert(kReduceNeighbours == kVector);

// Partial results of neighbouring lines, and the mask's sum, which they share.
struct Neighbours {
  static constexpr int kValues = kVector + 1;
  float values[kValues];

  __device__ explicit Neighbours(bool is_max) {
#pragma unroll
    for (float& value : values) value = is_max ? -INFINITY : 0.0f;
  }
  template <class Operation>
  __device__ void add(const ReduceArguments& a, const Begin& begin, Operation operation) {
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < a.length; i += kReduceThreads) {
      float more[kVector], factor = 1;
      unpack(load_vector(a.x, a.type, begin.x + i * a.step), a.type, more);
      if (a.code == ReduceCode::masked_mean) factor = element<const float>(a.mask, begin.mask + i * a.mask_step);
#pragma unroll
      for (int line = 0; line < kVector; ++line) values[line] = operation(values[line], more[line] * factor);
      values[kVector] = operation(values[kVector], factor);
    }
  }
};

// A block reduces neighbouring lines: threads share the axis, and a load takes an element of each line.
template <class Operation>
__device__ void share_neighbours(const ReduceArguments& a, Operation operation) {
  __shared__ float parts[kWarps][Neighbours::kValues];
  allow_dependents();
  const Begin begin = begin_of(a, blockIdx.x);
  wait_for_producers();
  Neighbours part(a.code == ReduceCode::max);
  part.add(a, begin, operation);
#pragma unroll
  for (int i = 0; i < Neighbours::kValues; ++i) {
    const float total = reduce_warp(part.values[i], operation);
    if (lane() == 0) parts[warp()][i] = total;
  }
  sync_block();
  const int line = static_cast<int>(threadIdx.x);
  if (line >= kVector) return;
  Partial<float> total{parts[0][line], parts[0][kVector], false};
  for (int i = 1; i < kWarps; ++i) add(a, total, Partial<float>{parts[i][line], parts[i][kVector], false});
  store_result(a, {begin.x, begin.mask, begin.out + line}, total);
}

__device__ void across_threads(const ReduceArguments& a) {
  if (a.code == ReduceCode::max)
    share_neighbours(a, Max{});
  else
    share_neighbours(a, Sum{});
}

// A lane reduces a line; each warp of the block takes its share of the axis.
template <class T>
__device__ void across_lanes(const ReduceArguments& a) {
  __shared__ Room<Partial<T>[kLanes], kWarps> room;
  auto parts = room.begin();
  allow_dependents();
  const uint32_t line = blockIdx.x * kLanes + lane();
  const bool present = line < a.lines.count;
  const Begin begin = present ? begin_of(a, line) : Begin{};
  wait_for_producers();
  Partial<T> part;
  if (present) part = gather_part<T>(a, begin, warp(), kWarps);
  parts[warp()][lane()] = part;
  sync_block();
  if (warp() != 0 || !present) return;
  for (int i = 1; i < kWarps; ++i) add(a, part, parts[i][lane()]);
  store_result(a, begin, part);
}

// Returns the sum over the lanes up to this one.
template <class T>
__device__ T running_sum_of_warp(T value) {
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const T before = shuffle(value, lane() - distance);
    if (lane() >= distance) value += before;
  }
  return value;
}

// A block takes a line, with an element for each thread at a time.
template <class T>
__device__ void running_sum(const ReduceArguments& a) {
  __shared__ T totals[2][kMaxWarps];
  allow_dependents();
  const int warps = static_cast<int>(blockDim.x) / kLanes;
  const Begin begin = begin_of(a, blockIdx.x);
  wait_for_producers();
  T carry{};
  int turn = 0;  // alternates `totals`, as a fast warp may write while a slow one reads
  for (uint32_t first = 0; first < a.length; first += blockDim.x, turn ^= 1) {
    const uint32_t i = first + threadIdx.x;
    T value = running_sum_of_warp(i < a.length ? load_as<T>(a.x, a.type, begin.x + i * a.step) : T{});
    if (lane() == kLanes - 1) totals[turn][warp()] = value;
    sync_block();
    T before = carry;
    for (int w = 0; w < warps; ++w) {
      if (w == warp()) before = carry;
      carry += totals[turn][w];
    }
    if (i < a.length) store_as<T>(a.out, a.out_type, begin.out + i * a.out_step, value + before);
  }
}

template <ReduceConfig config>
__device__ void reduce(const ReduceArguments& a) {
  using T = Element<config.type>;
  if constexpr (config.way == ReduceWay::along) along_threads<T>(a);
  if constexpr (config.way == ReduceWay::neighbours) across_threads(a);
  if constexpr (config.way == ReduceWay::across) across_lanes<T>(a);
  if constexpr (config.way == ReduceWay::running) running_sum<T>(a);
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kReduceThreads) entry(const __grid_constant__ ReduceArguments a) { reduce<ReduceConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/reduce/reduce.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
