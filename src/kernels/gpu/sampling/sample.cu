// Sampling. First a warp takes each run of logits and finds its largest, then its sum of weights; one block draws the
// token from these. Where settings leave few tokens, it reads the runs again that may have some of them, and selects by
// the bits of their ranks. Sums are of integers, so that they are the same however they are cut.
// SPDX-License-Identifier: Apache-2.0
#include "ir/sampling.hpp"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/fault.cuh"
#include "kernels/gpu/reductions.cuh"
#include "kernels/gpu/sampling/block_sums.cuh"
#include "kernels/gpu/sampling/sample_arguments.hpp"

namespace rung::gpu {
namespace {

using sampling::Settings;

struct Fma {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return fmaf(a, b, c);
  }
};

constexpr uint32_t kUnusable = ~0u;  // the order of a logit that is NaN or +inf: above that of all others

__device__ inline uint32_t order_of(float logit) {
  return sampling::is_usable(logit) ? sampling::order_of(as_bits(logit)) : kUnusable;
}
__device__ inline float logit_of(uint32_t order) { return as_float(sampling::bits_of_order(order)); }
__device__ inline bool is_usable(uint32_t order) {
  return order < sampling::order_of(0x7f800000u) && order > sampling::order_of(0xff800000u);
}

__device__ inline Settings settings_of(const SampleArguments& a) { return element<const Settings>(a.settings, 0); }

// ---- the largest of each run

__device__ inline float adjusted(const SampleArguments& a, const Settings& settings, float logit, uint32_t at) {
  if (a.seen) {
    const auto count = load_as<int64_t>(a.seen, a.seen_type, at);
    logit = sampling::penalised(logit, static_cast<float>(count), settings, Fma{});
  }
  return a.bias ? logit + element<const float>(a.bias, at) : logit;
}

template <class T>
__device__ void find_largest(const SampleArguments& a) {
  allow_dependents();
  const uint32_t run = blockIdx.x * (kSampleThreads / kLanes) + warp();
  wait_for_producers();
  if (run >= a.runs) return;
  constexpr uint32_t kOfLane = kSampleRun / kLanes;
  const uint32_t first = run * kSampleRun + lane();
  float logits[kOfLane];
#pragma unroll
  for (uint32_t i = 0; i < kOfLane; ++i) {
    const uint32_t at = first + i * kLanes;
    logits[i] = at < a.tokens ? to_float(element<const T>(a.given, at)) : -INFINITY;
  }
  if (a.logits != a.given) {
    const Settings settings = settings_of(a);
    for (uint32_t i = 0; i < kOfLane; ++i) {
      const uint32_t at = first + i * kLanes;
      if (at < a.tokens) element<float>(a.logits, at) = logits[i] = adjusted(a, settings, logits[i], at);
    }
  }
  uint32_t most = 0;
  for (float logit : logits) most = max(most, order_of(logit));
  most = reduce_warp(most, Max{});
  if (lane() == 0) element<uint32_t>(a.run_orders, run) = most;
}

// Returns the order of the largest of all logits, for every thread of the block.
__device__ inline uint32_t largest_order(const SampleArguments& a, uint32_t* partial) {
  uint32_t most = 0;
  for (uint32_t i = threadIdx.x; i < a.runs; i += kSampleThreads)
    most = max(most, element<const uint32_t>(a.run_orders, i));
  most = reduce_block(most, Max{}, partial);
  sync_block();  // before `partial` is used again
  return most;
}

// ---- weights

struct Weighing {
  float largest, factor;
  uint64_t least;  // smaller weights count as 0
  __device__ uint64_t operator()(float logit) const {
    const uint64_t weight = sampling::weight_of(logit, largest, factor, Fma{});
    return weight >= least ? weight : 0;
  }
};

__device__ inline bool has_top_k(const SampleArguments& a, const Settings& s) {
  return sampling::kept_of(s, a.tokens) < a.tokens;
}

__device__ void sum_weights(const SampleArguments& a) {
  __shared__ uint32_t partial[kMaxWarps];
  allow_dependents();
  wait_for_producers();
  const Settings settings = settings_of(a);
  if (!sampling::is_valid(settings) || sampling::is_greedy(settings) || has_top_k(a, settings)) return;
  const uint32_t order = largest_order(a, partial);
  const uint32_t run = blockIdx.x * (kSampleThreads / kLanes) + warp();
  if (!is_usable(order) || run >= a.runs) return;
  const uint64_t least = settings.top_p < 1 ? 0 : sampling::least_weight(settings);
  const Weighing weight{logit_of(order), sampling::factor_of(settings), least};
  uint64_t sum = 0;
#pragma unroll
  for (uint32_t i = 0; i < kSampleRun / kLanes; ++i) {
    const uint32_t at = run * kSampleRun + i * kLanes + lane();
    if (at < a.tokens) sum += weight(element<const float>(a.logits, at));
  }
  sum = reduce_warp(sum, Sum{});
  if (lane() == 0) element<uint64_t>(a.run_weights, run) = sum;
}

// ---- the token, by one block

struct Block {
  BlockSums& sums;
  Selection& selection;
};

// Finds the token of a greedy draw, the first of the largest logits.
__device__ uint32_t first_largest(const SampleArguments& a, uint32_t order, BlockSums& sums) {
  const auto of_run = [&](uint32_t i) { return element<const uint32_t>(a.run_orders, i) == order; };
  const uint32_t begin = sums.first(a.runs, of_run) * kSampleRun, count = min(kSampleRun, a.tokens - begin);
  const auto of_token = [&](uint32_t i) { return order_of(element<const float>(a.logits, begin + i)) == order; };
  return begin + sums.first(count, of_token);
}

__device__ inline uint64_t drawn_of(const SampleArguments& a, uint64_t total) {
  const auto* draw = in_memory<const int64_t>(a.draw);
  return sampling::drawn_of(sampling::random_of(draw[0], draw[1]), total);
}

// Draws from all tokens, by the sums of runs.
__device__ uint32_t drawn_of_runs(const SampleArguments& a, const Weighing& weight, BlockSums& sums) {
  const auto of_run = [&](uint32_t i) { return element<const uint64_t>(a.run_weights, i); };
  const auto found = sums.locate(a.runs, of_run, [&](uint64_t total) { return drawn_of(a, total); });
  const uint32_t begin = found.index * kSampleRun, count = min(kSampleRun, a.tokens - begin);
  const auto of_token = [&](uint32_t i) { return weight(element<const float>(a.logits, begin + i)); };
  return begin + sums.locate(count, of_token, [&](uint64_t) { return found.rest; }).index;
}

// The tokens that may stay, in the order of their places. A token's rank is the larger, the earlier it stays: by logit,
// equal ones by ascending place.
struct Candidates {
  const uint64_t *ranks, *weights;
  uint32_t count;
  __device__ uint32_t place(uint32_t i) const { return ~static_cast<uint32_t>(ranks[i]); }
};

// Stores the tokens whose logits have an order and a weight that are not below the given ones.
__device__ Candidates collect(const SampleArguments& a, const Weighing& weight, uint32_t least_order, BlockSums& sums) {
  const auto stays = [&](uint32_t order) { return order >= least_order && weight(logit_of(order)) >= weight.least; };
  auto* full = in_memory<uint32_t>(a.full_runs);
  const uint32_t runs = sums.compact(
      a.runs, [&](uint32_t run) { return stays(element<const uint32_t>(a.run_orders, run)); },
      [&](uint32_t to, uint32_t run) { full[to] = run; });
  auto *ranks = in_memory<uint64_t>(a.ranks), *weights = in_memory<uint64_t>(a.weights);
  const auto place = [&](uint32_t i) { return full[i / kSampleRun] * kSampleRun + i % kSampleRun; };
  const uint32_t count = sums.compact(
      runs * kSampleRun,
      [&](uint32_t i) { return place(i) < a.tokens && stays(order_of(element<const float>(a.logits, place(i)))); },
      [&](uint32_t to, uint32_t i) {
        const float logit = element<const float>(a.logits, place(i));
        ranks[to] = static_cast<uint64_t>(order_of(logit)) << 32 | ~place(i);
        weights[to] = weight(logit);
      });
  return {ranks, weights, count};
}

// Returns an order that none of the `count` largest logits is below: as many threads, or runs, have one that large.
__device__ uint32_t least_order_of_first(const SampleArguments& a, uint32_t count, Selection& selection) {
  const auto order = [&](uint32_t run) { return element<const uint32_t>(a.run_orders, run); };
  const auto one = [](uint32_t) { return uint64_t{1}; };
  if (count > a.runs) return 0;
  if (count > kSampleThreads / 2) {
    const auto rank = [&](uint32_t run) { return static_cast<uint64_t>(order(run)) << 32 | run; };
    return static_cast<uint32_t>(selection.cut(a.runs, rank, count, one) >> 32);
  }
  uint32_t most = 0;
  for (uint32_t i = threadIdx.x; i < a.runs; i += kSampleThreads) most = max(most, order(i));
  const uint64_t rank = static_cast<uint64_t>(most) << 32 | threadIdx.x;
  return static_cast<uint32_t>(selection.cut_own(rank, uint64_t{1}, kSampleThreads, count) >> 32);
}

// Returns tokens that have the weight of what top_p needs, with all larger logits: first it tries few.
__device__ Candidates collect_weight(const SampleArguments& a, Weighing weight, uint64_t total, uint64_t needed,
                                     const Block& block) {
  constexpr uint32_t kFew = 64;
  for (int tries = 0; tries < 2; ++tries) {
    const uint32_t tried = tries == 0 ? kFew : a.runs / 2;
    const uint32_t least_order = least_order_of_first(a, max(1u, min(tried, a.runs)), block.selection);
    const Candidates all = collect(a, weight, least_order, block.sums);
    if (block.sums.sum(all.count, [&](uint32_t i) { return all.weights[i]; }) >= needed) return all;
  }
  // Were each token below of this weight, they would not have what all have more than is needed.
  const uint64_t most = (total - needed) / a.tokens;
  weight.least = most - (most >> 20);  // a little less, by more than weights are rounded
  return collect(a, weight, 0, block.sums);
}

__device__ uint32_t drawn_of_candidates(const SampleArguments& a, const Settings& settings, Weighing weight,
                                        const Block& block) {
  const uint64_t least = weight.least;
  weight.least = 0;
  Candidates all{};
  uint64_t total = 0, cut = 0;  // total: of what top_k leaves
  const auto rank = [&](uint32_t i) { return all.ranks[i]; };
  const auto kept_weight = [&](uint32_t i) { return all.ranks[i] >= cut ? all.weights[i] : 0; };
  if (has_top_k(a, settings)) {
    const auto kept = static_cast<uint32_t>(sampling::kept_of(settings, a.tokens));
    all = collect(a, weight, least_order_of_first(a, kept, block.selection), block.sums);
    cut = block.selection.cut(all.count, rank, kept, [](uint32_t) { return uint64_t{1}; });
    total = block.sums.sum(all.count, kept_weight);
  } else {
    total = block.sums.sum(a.runs, [&](uint32_t i) { return element<const uint64_t>(a.run_weights, i); });
    all = collect_weight(a, weight, total, sampling::needed_of(settings, total), block);
  }
  if (settings.top_p < 1) cut = block.selection.cut(all.count, rank, sampling::needed_of(settings, total), kept_weight);
  const auto weight_of = [&](uint32_t i) { return all.weights[i] >= least ? kept_weight(i) : 0; };
  return all.place(
      block.sums.locate(all.count, weight_of, [&](uint64_t sum) { return drawn_of(a, sum); }).index);
}

__device__ void find_token(const SampleArguments& a) {
  __shared__ BlockSums sums;
  __shared__ Selection selection;
  __shared__ uint32_t partial[kMaxWarps];
  const Block block{sums, selection};
  allow_dependents();
  wait_for_producers();
  const Settings settings = settings_of(a);
  const uint32_t order = largest_order(a, partial);
  uint32_t token = 0;
  if (!sampling::is_valid(settings) || !is_usable(order)) {
    if (threadIdx.x == 0) report_fault(a.fault, Fault::no_token_to_draw);
  } else if (sampling::is_greedy(settings)) {
    token = first_largest(a, order, sums);
  } else {
    const Weighing weight{logit_of(order), sampling::factor_of(settings), sampling::least_weight(settings)};
    token = has_top_k(a, settings) || settings.top_p < 1 ? drawn_of_candidates(a, settings, weight, block)
                                                         : drawn_of_runs(a, weight, sums);
  }
  if (threadIdx.x == 0) element<int64_t>(a.token, 0) = token;
}

}  // namespace

#define RUNG_VARIANT(entry, type) \
  RUNG_KERNEL(kSampleThreads) entry(const __grid_constant__ SampleArguments a) { find_largest<Element<type>>(a); }
#include "kernels/gpu/sampling/sample.inc"
#undef RUNG_VARIANT

RUNG_KERNEL(kSampleThreads) sample_weights(const __grid_constant__ SampleArguments a) { sum_weights(a); }
RUNG_KERNEL(kSampleThreads) sample_token(const __grid_constant__ SampleArguments a) { find_token(a); }

}  // namespace rung::gpu
