// Recognises fields and arguments by their keys, and skips all others.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/chrome_event.hpp"

#include "trace/recording/json_members.hpp"

namespace rung::trace {
namespace {

// Keys are in the order of Field and Argument.
constexpr std::array<std::string_view, static_cast<size_t>(Field::count)> kFieldKeys{"ph",  "cat", "name", "pid",
                                                                                     "tid", "ts",  "dur",  "id"};
constexpr std::array<std::string_view, static_cast<size_t>(Argument::count)> kArgumentKeys{
    "correlation",   "device",         "stream",         "grid",           "block",          "registers per thread",
    "shared memory", "bytes",          "Input Dims",     "Input Strides",  "Input type",     "Concrete Inputs",
    "Group size",    "In msg nelems",  "Out msg nelems", "dtype",          "name",           "kernel",
    "problem",       "BeginNs",        "EndNs",          "dev-id",         "queue-id",       "stream-id",
    "pid",           "correlation_id", "kernel_details", "memcpy_details", "memset_details", "step_num"};

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

}  // namespace rung::trace
