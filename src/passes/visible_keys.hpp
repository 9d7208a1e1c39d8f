// Tables of which query sees which key, and the span that says the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/key_span.hpp"

namespace rung::passes {

struct VisibleKeys {
  int64_t queries = 0, keys = 0;
  std::vector<uint8_t> seen;  // [queries, keys], 1 where the query sees the key

  bool sees(int64_t query, int64_t key) const { return seen[static_cast<size_t>(query * keys + key)] != 0; }
  // Returns whether each query sees some key.
  bool every_query_sees() const;
  // Returns the span that gives each query these keys and no others, without limits where none shows; nullopt: there is
  // none.
  std::optional<KeySpan> span() const;
};

}  // namespace rung::passes
