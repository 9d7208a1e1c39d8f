// Recognises fields by their keys, and skips all others.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/rocprof_json_record.hpp"

#include "trace/recording/json_members.hpp"
#include "trace/recording/json_numbers.hpp"

namespace rung::trace {
namespace {

// Keys are in the order of RocprofField.
constexpr std::array<std::string_view, static_cast<size_t>(RocprofField::count)> kKeys{
    "kind",      "operation",    "thread_id",    "correlation_id", "start_timestamp",    "end_timestamp",
    "agent_id",  "queue_id",     "stream_id",    "kernel_id",      "group_segment_size", "workgroup_size",
    "grid_size", "dst_agent_id", "src_agent_id", "bytes"};

Scan scan_field(JsonCursor& cursor, std::string_view key, RocprofRecord& record) {
  return scan_value(cursor, place_of(key, kKeys, record.fields));
}

Scan scan_dispatch(JsonCursor& cursor, RocprofRecord& record) {
  cursor.skip_blanks();
  if (*cursor.at != '{') return scan_value(cursor, nullptr);
  return scan_members(cursor, [&](std::string_view key) { return scan_field(cursor, key, record); });
}

}  // namespace

Scan scan_record(JsonCursor& cursor, RocprofRecord& record) {
  return scan_members(cursor, [&](std::string_view key) {
    return key == "dispatch_info" ? scan_dispatch(cursor, record) : scan_field(cursor, key, record);
  });
}

std::string_view member_of(std::string_view object, std::string_view key) {
  std::string_view found;
  if (object.empty() || object.front() != '{') return found;
  JsonCursor cursor(object.data(), object.data() + object.size());
  const Scan scan =
      scan_members(cursor, [&](std::string_view name) { return scan_value(cursor, name == key ? &found : nullptr); });
  return scan == Scan::ok ? found : std::string_view();
}

std::optional<uint64_t> handle_of(std::string_view json) {
  return unsigned_of(!json.empty() && json.front() == '{' ? member_of(json, "handle") : json);
}

}  // namespace rung::trace
