// Sets of rows along an axis, each kept once and known by a number.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

namespace rung::passes {

using RowSet = uint32_t;
inline constexpr RowSet kAllRows = 0;

class RowSets {
 public:
  // Returns the number of a set; `rows` are ascending and distinct, out of `size`.
  RowSet intern(std::vector<int64_t> rows, int64_t size) {
    if (static_cast<int64_t>(rows.size()) == size) return kAllRows;
    auto [it, is_new] = numbers_.try_emplace(std::move(rows), static_cast<RowSet>(sets_.size()) + 1);
    if (is_new) sets_.push_back(&it->first);
    return it->second;
  }
  // `set` must not be kAllRows.
  const std::vector<int64_t>& rows(RowSet set) const { return *sets_[set - 1]; }
  std::vector<int64_t> rows(RowSet set, int64_t size) const {
    if (set != kAllRows) return rows(set);
    std::vector<int64_t> all(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) all[static_cast<size_t>(i)] = i;
    return all;
  }
  int64_t count(RowSet set, int64_t size) const {
    return set == kAllRows ? size : static_cast<int64_t>(rows(set).size());
  }
  RowSet unite(RowSet a, RowSet b, int64_t size) {
    if (a == b) return a;
    if (a == kAllRows || b == kAllRows) return kAllRows;
    auto [it, is_new] = unions_.try_emplace({a, b, size}, kAllRows);
    if (is_new) {
      std::vector<int64_t> both;
      std::set_union(rows(a).begin(), rows(a).end(), rows(b).begin(), rows(b).end(), std::back_inserter(both));
      it->second = intern(std::move(both), size);
    }
    return it->second;
  }

 private:
  std::map<std::vector<int64_t>, RowSet> numbers_;
  std::vector<const std::vector<int64_t>*> sets_;
  std::map<std::tuple<RowSet, RowSet, int64_t>, RowSet> unions_;
};

}  // namespace rung::passes
