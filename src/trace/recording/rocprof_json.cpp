// Reads rocprofv3's JSON: for each process, tables, then lists of records of each kind.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/byte_source.hpp"
#include "trace/recording/json_window.hpp"
#include "trace/recording/reader.hpp"
#include "trace/recording/rocprof_json_recorder.hpp"

namespace rung::trace {
namespace {

constexpr std::string_view kRoot = "rocprofiler-sdk-tool";
constexpr uint64_t kLeastRecordBytes = 300;  // of text, for a record that is kept

class RocprofDocument {
 public:
  RocprofDocument(ByteSource source, RocprofJsonRecorder& recorder) : window_(std::move(source)), recorder_(recorder) {}

  Status read() {
    RUNG_CHECK(window_.members([&](const std::string& key) {
      if (key != kRoot) return window_.skip_value();
      return window_.elements([&] { return read_process(); });
    }));
    return window_.expect_end();
  }

 private:
  Status read_process() {
    recorder_.begin_process();
    RUNG_CHECK(window_.members([&](const std::string& key) { return read_member(key); }));
    recorder_.end_process();
    return {};
  }

  Status read_member(const std::string& key) {
    RocprofTables& tables = recorder_.tables();
    if (key == "metadata") return value([&](std::string_view json) { recorder_.take_metadata(json); });
    if (key == "agents") return rows([&](std::string_view json) { tables.take_agent(json); });
    if (key == "kernel_symbols") return rows([&](std::string_view json) { tables.take_kernel(json); });
    if (key == "strings") return window_.members([&](const std::string& list) { return read_strings(list); });
    if (key == "buffer_records") return window_.members([&](const std::string& list) { return read_records(list); });
    if (key == "callback_records") return window_.members([&](const std::string&) { return skip_counters(); });
    return window_.skip_value();
  }

  Status read_strings(const std::string& list) {
    RocprofTables& tables = recorder_.tables();
    if (list == "buffer_records") return rows([&](std::string_view json) { tables.take_kind(json); });
    if (list == "marker_api") return rows([&](std::string_view json) { tables.take_message(json); });
    return window_.skip_value();
  }

  Status read_records(const std::string& list) {
    const bool wanted = recorder_.begin_records(list);
    return window_.elements([&]() -> Status {
      if (!wanted) return recorder_.skip_record(), window_.skip_value();
      RocprofRecord record;
      RUNG_CHECK(window_.scan("a record", [&](JsonCursor& cursor) {
        record = {};
        return scan_record(cursor, record);
      }));
      recorder_.take(record);
      return {};
    });
  }

  Status skip_counters() {
    return window_.elements([&] { return recorder_.skip_counter(), window_.skip_value(); });
  }

  template <class F>
  Status value(const F& take) {
    std::string_view json;
    RUNG_CHECK(window_.scan("a value", [&](JsonCursor& cursor) { return cursor.value(json); }));
    take(json);
    return {};
  }

  template <class F>
  Status rows(const F& take) {
    return window_.elements([&] { return value(take); });
  }

  JsonWindow window_;
  RocprofJsonRecorder& recorder_;
};

// Recognises {"rocprofiler-sdk-tool".
bool looks_like_rocprof_json(const TraceFile& file) {
  std::string_view text = file.head;
  const auto skip_blanks = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size())); };
  skip_blanks();
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip_blanks();
  return text.starts_with('"') && text.substr(1).starts_with(kRoot);
}

Result<Recording> read_rocprof_json(const std::string& path) {
  RUNG_TRY(ByteSource source, ByteSource::open(path));
  RocprofJsonRecorder recorder;
  recorder.expect(source.file_bytes() * (source.packed() ? 16 : 1) / kLeastRecordBytes);
  RocprofDocument document(std::move(source), recorder);
  RUNG_CHECK(document.read());
  auto recording = recorder.finish();
  if (!recording) return fail_in(recording.error(), "'{}'", path);
  return recording;
}

}  // namespace

const TraceReader rocprof_json_reader{"rocprofv3's JSON", looks_like_rocprof_json, read_rocprof_json};

}  // namespace rung::trace
