// Fields and arguments are told by their keys; all others are stepped over.
// SPDX-License-Identifier: Apache-2.0
#include "advise/trace/chrome_event.hpp"

namespace rung::advise {
namespace {

// In the order of Field and Argument.
constexpr std::array<std::string_view, static_cast<size_t>(Field::count)> kFieldKeys{"ph",  "cat", "name", "pid",
                                                                                     "tid", "ts",  "dur"};
constexpr std::array<std::string_view, static_cast<size_t>(Argument::count)> kArgumentKeys{
    "correlation",   "device",        "stream",         "grid",          "block",      "registers per thread",
    "shared memory", "bytes",         "Input Dims",     "Input Strides", "Input type", "Concrete Inputs",
    "Group size",    "In msg nelems", "Out msg nelems", "dtype",         "name",       "kernel",
    "problem"};

// members(key) -> where its value's text goes; null: nowhere.
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

template <size_t N>
std::string_view* place_of(std::string_view key, const std::array<std::string_view, N>& keys,
                           std::array<std::string_view, N>& texts) {
  for (size_t i = 0; i < N; ++i)
    if (keys[i] == key) return &texts[i];
  return nullptr;
}

Scan scan_value(JsonCursor& cursor, std::string_view* place) {
  std::string_view ignored;
  return cursor.value(place ? *place : ignored);
}

Scan scan_arguments(JsonCursor& cursor, ChromeEvent& event) {
  cursor.skip_blanks();
  if (*cursor.at != '{') return scan_value(cursor, nullptr);
  return scan_members(
      cursor, [&](std::string_view key) { return scan_value(cursor, place_of(key, kArgumentKeys, event.arguments)); });
}

}  // namespace

Scan scan_event(JsonCursor& cursor, ChromeEvent& event) {
  return scan_members(cursor, [&](std::string_view key) {
    return key == "args" ? scan_arguments(cursor, event) : scan_value(cursor, place_of(key, kFieldKeys, event.fields));
  });
}

}  // namespace rung::advise
