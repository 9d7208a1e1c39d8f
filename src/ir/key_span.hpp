// The keys that a query of an attention sees by its place alone: causal masks, sliding windows and prefixes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

namespace rung {

// Query i sees the keys from i - before to i + after, and the first `prefix` keys. Both count from the operands' first
// query and first key: where a cache of c keys stands before the keys of the queries, a causal mask is after = c.
struct KeySpan {
  static constexpr int64_t kAll = int64_t{1} << 48;  // more keys than a tensor has: no limit on that side
  int64_t before = kAll, after = kAll, prefix = 0;

  bool sees_all() const { return before == kAll && after == kAll; }
  bool sees(int64_t query, int64_t key) const {
    return key < prefix || (key >= query - before && key <= query + after);
  }
  // Returns the number of pairs of a query and a key that it sees.
  double pairs(int64_t queries, int64_t keys) const {
    const int64_t shown = std::min(prefix, keys);
    return static_cast<double>(queries) * static_cast<double>(shown) + sum(queries, after + 1, {shown, keys}) -
           sum(queries, -before, {shown, keys});
  }
  friend bool operator==(const KeySpan&, const KeySpan&) = default;

 private:
  struct Limits {
    int64_t low, high;
  };
  // Returns the sum of clamp(i + shift, low, high) over all queries i: those at `low`, those between, those at `high`.
  static double sum(int64_t queries, int64_t shift, Limits to) {
    const int64_t first = std::clamp<int64_t>(to.low - shift, 0, queries);
    const int64_t last = std::clamp<int64_t>(to.high - shift, 0, queries);
    const auto at_low = static_cast<double>(first), between = static_cast<double>(last - first),
               at_high = static_cast<double>(queries - last);
    return at_low * static_cast<double>(to.low) + between * (static_cast<double>(first + shift) + (between - 1) / 2) +
           at_high * static_cast<double>(to.high);
  }
};

}  // namespace rung
