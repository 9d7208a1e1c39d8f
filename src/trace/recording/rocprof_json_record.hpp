// One record of rocprofv3's JSON, as the texts of its fields; the recorder interprets them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/recording/json_cursor.hpp"

namespace rung::trace {

// Fields of all kinds of records and tables; fields of a kernel's "dispatch_info" count as the record's own.
enum class RocprofField : uint8_t {
  kind,
  operation,
  thread,
  correlation,
  start,
  end,
  agent,
  queue,
  stream,
  kernel,
  shared_bytes,
  block,
  grid,
  destination,
  source,
  bytes,
  count
};

struct RocprofRecord {
  std::array<std::string_view, static_cast<size_t>(RocprofField::count)> fields;  // JSON; empty: missing
  std::string_view operator[](RocprofField field) const { return fields[static_cast<size_t>(field)]; }
};

Scan scan_record(JsonCursor& cursor, RocprofRecord& record);

// Returns the value of a member in an object's text; empty: no such member, or no object.
std::string_view member_of(std::string_view object, std::string_view key);
// Returns 5 for 5, "5" and {"handle": 5}: identifiers are written as objects.
std::optional<uint64_t> handle_of(std::string_view json);

}  // namespace rung::trace
