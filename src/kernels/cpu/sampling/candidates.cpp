// Selects by the bits of ranks, eight at a time from the top, so that nothing is sorted.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/sampling/candidates.hpp"

#include <bit>
#include <numeric>

#include "ir/sampling.hpp"

namespace rung::cpu {

void Candidates::rank_from(int64_t first, int64_t place) {
  for (int64_t i = first; i < count; ++i) {
    const uint64_t order = sampling::order_of(std::bit_cast<uint32_t>(logits[i]));
    ranks[i] = order << 32 | ~(static_cast<uint32_t>(place) + selected[i]);
  }
}

uint64_t Candidates::weight() const { return std::accumulate(weights, weights + count, uint64_t{0}); }

void Candidates::keep_count(int64_t wanted) {
  if (wanted < count) keep_from(cut(static_cast<uint64_t>(wanted), [](int64_t) { return uint64_t{1}; }));
}

void Candidates::keep_weight(uint64_t wanted) {
  keep_from(cut(wanted, [this](int64_t i) { return weights[i]; }));
}

// Returns a rank from which on there are as many as wanted, by their measure, and none too many.
template <class Measure>
uint64_t Candidates::cut(uint64_t wanted, const Measure& measure) const {
  constexpr int kBits = 8;
  std::iota(selected, selected + count, 0u);
  int64_t left = count;
  uint64_t rank = 0;
  for (int shift = 64 - kBits; shift >= 0 && left > 1; shift -= kBits) {
    const auto digit = [&](int64_t i) { return ranks[selected[i]] >> shift & 0xff; };
    uint64_t sums[2][1 << kBits] = {};  // two, as neighbours often add to the same sum
    for (int64_t i = 0; i < left; ++i) sums[i % 2][digit(i)] += measure(selected[i]);
    const auto sum = [&](uint64_t at) { return sums[0][at] + sums[1][at]; };
    uint64_t at = 0xff;
    for (; wanted > sum(at); --at) wanted -= sum(at);
    rank |= at << shift;
    if (wanted == sum(at)) break;  // all of that digit stay
    int64_t kept = 0;
    for (int64_t i = 0; i < left; ++i) {
      const bool stays = digit(i) == at;
      selected[kept] = selected[i], kept += stays;
    }
    left = kept;
  }
  return rank;
}

void Candidates::keep_from(uint64_t rank) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool stays = ranks[i] >= rank;
    ranks[kept] = ranks[i], weights[kept] = weights[i], logits[kept] = logits[i];
    kept += stays;
  }
  count = kept;
}

}  // namespace rung::cpu
