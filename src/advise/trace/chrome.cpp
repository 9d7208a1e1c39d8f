// PyTorch's profiler and rung's own profile write Chrome's JSON: an object whose "traceEvents" are read, or the array
// of events alone.
// SPDX-License-Identifier: Apache-2.0
#include "advise/trace/byte_source.hpp"
#include "advise/trace/chrome_event.hpp"
#include "advise/trace/chrome_recorder.hpp"
#include "advise/trace/json_window.hpp"
#include "advise/trace/reader.hpp"

namespace rung::advise {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr uint64_t kLeastEventBytes = 128;  // of text, of an event that is kept

class ChromeDocument {
 public:
  explicit ChromeDocument(ByteSource source) : window_(std::move(source)) {}

  Status read(ChromeRecorder& recorder) {
    bool array = false;
    RUNG_CHECK(window_.scan("the beginning", [&](JsonCursor& cursor) {
      if (cursor.starts_with(kByteOrderMark)) cursor.at += kByteOrderMark.size();
      array = cursor.take('[');
      return array ? Scan::ok : cursor.expect('{', "'{' or '['");
    }));
    RUNG_CHECK(array ? read_events(recorder) : read_members(recorder));
    return window_.expect_end();
  }

 private:
  Status read_events(ChromeRecorder& recorder) {
    bool closed = false;
    RUNG_CHECK(take_if(']', closed));
    while (!closed) {
      ChromeEvent event;
      RUNG_CHECK(window_.scan("an event", [&](JsonCursor& cursor) {
        event = {};
        const Scan scan = scan_event(cursor, event);
        return scan == Scan::ok ? cursor.comma_or(']', closed) : scan;
      }));
      recorder.take(event);
    }
    return {};
  }

  Status read_members(ChromeRecorder& recorder) {
    bool closed = false, any_events = false;
    RUNG_CHECK(take_if('}', closed));
    while (!closed) {
      std::string_view key;
      bool events = false;
      RUNG_CHECK(window_.scan("a member", [&](JsonCursor& cursor) {
        const Scan scan = cursor.key(key);
        events = scan == Scan::ok && key == "traceEvents";
        return events ? cursor.expect('[', "'['") : scan;
      }));
      any_events |= events;
      RUNG_CHECK(events ? read_events(recorder) : read_value(key == "deviceProperties", recorder));
      RUNG_CHECK(window_.scan("the object", [&](JsonCursor& cursor) { return cursor.comma_or('}', closed); }));
    }
    if (!any_events) return bad_file("'{}': got a JSON object without \"traceEvents\"", window_.path());
    return {};
  }

  Status read_value(bool devices, ChromeRecorder& recorder) {
    std::string_view value;
    RUNG_CHECK(window_.scan("a member's value", [&](JsonCursor& cursor) { return cursor.value(value); }));
    if (devices) recorder.take_devices(value);
    return {};
  }

  Status take_if(char closing, bool& taken) {
    return window_.scan("the trace", [&](JsonCursor& cursor) {
      taken = cursor.take(closing);
      return taken || !cursor.ended() ? Scan::ok : Scan::more;
    });
  }

  JsonWindow window_;
};

bool looks_like_chrome(const TraceFile& file) {
  std::string_view text = file.head;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Result<Recording> read_chrome(const std::string& path) {
  RUNG_TRY(ByteSource source, ByteSource::open(path));
  ChromeRecorder recorder;
  recorder.expect(source.file_bytes() * (source.packed() ? 16 : 1) / kLeastEventBytes);
  ChromeDocument document(std::move(source));
  RUNG_CHECK(document.read(recorder));
  auto recording = recorder.finish();
  if (!recording) return fail_in(recording.error(), "'{}'", path);
  return recording;
}

}  // namespace

const TraceReader chrome_reader{"JSON of PyTorch's profiler or of `rung profile --trace`", looks_like_chrome,
                                read_chrome};

}  // namespace rung::advise
