// The tokens that may stay when settings leave few: their order, weights and places, and the selection of the first.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::cpu {

// Tokens in the order of their places, in memory of the caller's.
struct Candidates {
  uint64_t* ranks;     // the larger, the earlier a token stays: by logit, equal ones by ascending place
  uint64_t* weights;   // of each
  float* logits;       // of each
  uint32_t* selected;  // room for the selection
  int64_t count = 0;

  void rank_from(int64_t first, int64_t place);  // those from `first` on, whose `selected` are places less `place`
  int64_t place(int64_t i) const { return ~static_cast<uint32_t>(ranks[i]); }
  uint64_t weight() const;  // of all

  // Keep those of the largest ranks: as many as wanted, or the fewest that have that weight. 1 at least is wanted, and
  // no more than there is.
  void keep_count(int64_t wanted);
  void keep_weight(uint64_t wanted);

 private:
  template <class Measure>
  uint64_t cut(uint64_t wanted, const Measure& measure) const;
  void keep_from(uint64_t rank);
};

}  // namespace rung::cpu
