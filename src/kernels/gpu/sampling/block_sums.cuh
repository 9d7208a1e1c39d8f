// Sums, searches and selections by one block of kSampleThreads threads over lists in memory. Each thread owns a run of
// neighbouring elements of a list, and every thread of the block gets each result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/reductions.cuh"
#include "kernels/gpu/sampling/sample_arguments.hpp"

namespace rung::gpu {

constexpr uint32_t kSampleWarps = kSampleThreads / kLanes;

struct BlockSums {
  struct Found {
    uint32_t index;
    uint64_t rest;  // what was drawn, less the weights before
  };
  uint64_t partial[kSampleWarps];
  Found found;

  struct Sums {
    uint64_t before, all;  // before: of the threads before this one
  };

  __device__ Sums sums_of(uint64_t value) {
    uint64_t upto = value;
#pragma unroll
    for (int step = 1; step < kLanes; step *= 2) {
      const uint64_t other = shuffle(upto, max(lane() - step, 0));
      if (lane() >= step) upto += other;
    }
    if (lane() == kLanes - 1) partial[warp()] = upto;
    sync_block();
    Sums sums{upto - value, 0};
    for (int i = 0; i < static_cast<int>(kSampleWarps); ++i) {
      if (i < warp()) sums.before += partial[i];
      sums.all += partial[i];
    }
    sync_block();  // before `partial` is used again
    return sums;
  }

  template <class Value>
  __device__ uint64_t sum(uint32_t count, const Value& value) {
    uint64_t own = 0;
    for (uint32_t i = threadIdx.x; i < count; i += kSampleThreads) own += value(i);
    return sums_of(own).all;
  }

  // Returns the first index for which `fits` is true; there is one.
  template <class Fits>
  __device__ uint32_t first(uint32_t count, const Fits& fits) {
    const auto drawn = [](uint64_t) { return uint64_t{0}; };
    return locate(count, [&](uint32_t i) { return static_cast<uint64_t>(fits(i)); }, drawn).index;
  }

  // Returns the element with which the running sum of weights becomes larger than what is drawn of their total.
  template <class Weight, class Drawn>
  __device__ Found locate(uint32_t count, const Weight& weight, const Drawn& drawn_of) {
    const uint32_t each = (count + kSampleThreads - 1) / kSampleThreads;
    const uint32_t begin = min(threadIdx.x * each, count), end = min(begin + each, count);
    uint64_t own = 0;
    for (uint32_t i = begin; i < end; ++i) own += weight(i);
    const Sums sums = sums_of(own);
    const uint64_t drawn = drawn_of(sums.all);
    if (drawn >= sums.before && drawn - sums.before < own) {
      uint64_t rest = drawn - sums.before;
      uint32_t i = begin;
      for (uint64_t w = weight(i); rest >= w; w = weight(++i)) rest -= w;
      found = {i, rest};
    }
    sync_block();
    const Found result = found;
    sync_block();  // before `found` is used again
    return result;
  }

  // Calls store(0, first index that fits), store(1, the second) and so on, and returns how many there are. What is
  // stored in memory is visible to the block.
  template <class Fits, class Store>
  __device__ uint32_t compact(uint32_t count, const Fits& fits, const Store& store) {
    const uint32_t each = (count + kSampleThreads - 1) / kSampleThreads;
    const uint32_t begin = min(threadIdx.x * each, count), end = min(begin + each, count);
    uint32_t own = 0;
    for (uint32_t i = begin; i < end; ++i) own += fits(i);
    const Sums sums = sums_of(own);
    auto to = static_cast<uint32_t>(sums.before);
    for (uint32_t i = begin; i < end; ++i)
      if (fits(i)) store(to++, i);
    sync_block();
    return static_cast<uint32_t>(sums.all);
  }
};

// The selection of the largest ranks, all of which differ.
struct Selection {
  static constexpr int kBits = 4, kBins = 1 << kBits;
  uint64_t bins[kBins][kSampleThreads];  // a column of sums for each thread
  uint64_t totals[kBins];
  uint64_t result;

  // Returns a rank from which on there is as much as wanted, by the measure of each, and no rank too many that has any.
  template <class Rank, class Measure>
  __device__ uint64_t cut(uint32_t count, const Rank& rank_of, uint64_t wanted, const Measure& measure) {
    if (count <= kSampleThreads) {
      const bool is_there = threadIdx.x < count;
      return cut_own(is_there ? rank_of(threadIdx.x) : 0, is_there ? measure(threadIdx.x) : 0, count, wanted);
    }
    uint64_t rank = 0, known = 0;  // known: the bits that are
    for (int shift = 64 - kBits; shift >= 0; shift -= kBits) {
      for (int bin = 0; bin < kBins; ++bin) bins[bin][threadIdx.x] = 0;
      for (uint32_t i = threadIdx.x; i < count; i += kSampleThreads)
        if (const uint64_t own = rank_of(i); ((own ^ rank) & known) == 0)
          bins[own >> shift & (kBins - 1)][threadIdx.x] += measure(i);
      sync_block();
      sum_bins();
      int bin = kBins - 1;
      for (; wanted > totals[bin]; --bin) wanted -= totals[bin];
      rank |= static_cast<uint64_t>(bin) << shift, known |= static_cast<uint64_t>(kBins - 1) << shift;
      if (wanted == totals[bin]) break;
    }
    sync_block();  // before `totals` is used again
    return rank;
  }

  // The same for no more ranks than threads, each of which passes its own: each adds up what stays before its own.
  __device__ uint64_t cut_own(uint64_t rank, uint64_t measure, uint32_t count, uint64_t wanted) {
    uint64_t *ranks = bins[0], *measures = bins[1];
    ranks[threadIdx.x] = rank, measures[threadIdx.x] = measure;
    sync_block();
    uint64_t before = 0;
    for (uint32_t i = 0; i < count; ++i) before += ranks[i] > rank ? measures[i] : 0;
    if (threadIdx.x < count && before < wanted && wanted - before <= measure) result = rank;
    sync_block();
    const uint64_t cut = result;
    sync_block();  // before the room is used again
    return cut;
  }

 private:
  __device__ void sum_bins() {
    for (int bin = warp(); bin < kBins; bin += static_cast<int>(kSampleWarps)) {
      uint64_t sum = 0;
      for (uint32_t i = lane(); i < kSampleThreads; i += kLanes) sum += bins[bin][i];
      sum = reduce_warp(sum, Sum{});
      if (lane() == 0) totals[bin] = sum;
    }
    sync_block();
  }
};

}  // namespace rung::gpu
