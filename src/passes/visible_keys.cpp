// Works out the span of a table of visible keys: its rows suggest one, and every element then confirms it.
// SPDX-License-Identifier: Apache-2.0
#include "passes/visible_keys.hpp"

namespace rung::passes {
namespace {

// The keys of one query: the first `solid`; behind the gap those from `next` on; none behind `last`.
struct Row {
  int64_t query, solid = 0, next = 0, last = -1;
  Row(const VisibleKeys& table, int64_t of_query) : query(of_query) {
    while (solid < table.keys && table.sees(query, solid)) ++solid;
    next = solid;
    while (next < table.keys && !table.sees(query, next)) ++next;
    for (int64_t key = table.keys - 1; key >= 0 && last < 0; --key)
      if (table.sees(query, key)) last = key;
  }
};

// A window that ends before the last key ends where it must in the row whose end is nearest to the query; a row that
// ends farther away shows the prefix, and so does a row with a gap, behind which the window begins.
KeySpan suggested(const VisibleKeys& table) {
  KeySpan span;
  std::vector<Row> ended;
  for (int64_t query = 0; query < table.queries; ++query) {
    const Row row(table, query);
    if (row.next < table.keys && row.next > row.solid) {
      span.before = query - row.next;
      span.prefix = std::max(span.prefix, row.solid);
    }
    if (row.last == table.keys - 1) continue;
    ended.push_back(row);
    span.after = std::min(span.after, row.last - query);
  }
  for (const Row& row : ended)
    if (row.last - row.query > span.after) span.prefix = std::max(span.prefix, row.last + 1);
  return span;
}

}  // namespace

bool VisibleKeys::every_query_sees() const {
  for (int64_t query = 0; query < queries; ++query)
    if (Row(*this, query).last < 0) return false;
  return true;
}

std::optional<KeySpan> VisibleKeys::span() const {
  const KeySpan span = suggested(*this);
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key)
      if (sees(query, key) != span.sees(query, key)) return std::nullopt;
  return span;
}

}  // namespace rung::passes
