// Scans an object's members one after another; stores texts of values by key.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

#include "trace/recording/json_cursor.hpp"

namespace rung::trace {

// Calls scan_member(key), which scans that member's value.
template <class F>
Scan scan_members(JsonCursor& cursor, const F& scan_member) {
  if (const Scan scan = cursor.expect('{', "'{'"); scan != Scan::ok) return scan;
  bool closed = cursor.take('}');
  while (!closed) {
    std::string_view key;
    if (const Scan scan = cursor.key(key); scan != Scan::ok) return scan;
    if (const Scan scan = scan_member(key); scan != Scan::ok) return scan;
    if (const Scan scan = cursor.comma_or('}', closed); scan != Scan::ok) return scan;
  }
  return Scan::ok;
}

// Returns the place for the value of a key; null: the key is not wanted.
template <size_t N>
std::string_view* place_of(std::string_view key, const std::array<std::string_view, N>& keys,
                           std::array<std::string_view, N>& texts) {
  for (size_t i = 0; i < N; ++i)
    if (keys[i] == key) return &texts[i];
  return nullptr;
}

inline Scan scan_value(JsonCursor& cursor, std::string_view* place) {
  std::string_view ignored;
  return cursor.value(place ? *place : ignored);
}

}  // namespace rung::trace
