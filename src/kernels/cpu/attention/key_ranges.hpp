// The keys that queries of an attention see by its span: the range that a block of queries reads, and the scores within
// that range that a query takes as -inf. Included by files compiled for an instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/attention/attention.hpp"
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::RUNG_ISA {

struct KeyRange {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

struct QueryRange {
  int64_t first, count;
};

RUNG_SIMD int64_t between(int64_t low, int64_t value, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// Returns the keys from the first to the last that any of the queries sees, from a multiple of `unit` on. A prefix and
// a window that are apart are one range: what lies between them is computed, and hidden.
RUNG_SIMD KeyRange range_for(const AttentionPlan& p, QueryRange queries, int64_t unit) {
  const int64_t window = between(0, queries.first - p.before, p.keys), begin = p.prefix > 0 ? 0 : window / unit * unit;
  const int64_t end = between(0, queries.first + queries.count + p.after, p.keys);
  const int64_t prefix = between(0, p.prefix, p.keys);
  if (end <= window) return {0, prefix};
  return {begin, end > prefix ? end : prefix};
}

// Returns whether each of the queries sees all of these keys.
RUNG_SIMD bool all_see(const AttentionPlan& p, QueryRange queries, KeyRange keys) {
  return keys.end <= p.prefix ||
         (queries.first + queries.count - 1 - p.before <= keys.begin && queries.first + p.after >= keys.end - 1);
}

RUNG_SIMD Mask lanes_below(int64_t count) { return first(static_cast<int>(between(0, count, kLanes))); }

// Returns a query's scores of the keys from `key` on, with -inf for those that it does not see.
RUNG_SIMD Vec seen_scores(const AttentionPlan& p, int64_t query, int64_t key, Vec scores) {
  const Vec hidden = set1(-__builtin_inff());
  const Vec up_to = select(lanes_below(query + p.after + 1 - key), scores, hidden);
  const Vec window = select(lanes_below(query - p.before - key), hidden, up_to);
  return select(lanes_below(p.prefix - key), scores, window);
}

}  // namespace rung::cpu::RUNG_ISA
