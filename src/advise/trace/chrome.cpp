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
      cursor.skip_blanks();
      array = *cursor.at == '[';
      return array || *cursor.at == '{' ? Scan::ok : cursor.stop("'{' or '['");
    }));
    RUNG_CHECK(array ? read_events(recorder) : read_members(recorder));
    return window_.expect_end();
  }

 private:
  // An event and its comma in one go: there are millions.
  Status read_events(ChromeRecorder& recorder) {
    bool closed = false;
    RUNG_CHECK(window_.open('[', ']', closed));
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
    bool any_events = false;
    RUNG_CHECK(window_.members([&](const std::string& key) {
      any_events |= key == "traceEvents";
      if (key == "traceEvents") return read_events(recorder);
      return key == "deviceProperties" ? read_devices(recorder) : window_.skip_value();
    }));
    if (!any_events) return bad_file("'{}': got a JSON object without \"traceEvents\"", window_.path());
    return {};
  }

  Status read_devices(ChromeRecorder& recorder) {
    std::string_view value;
    RUNG_CHECK(window_.scan("the devices", [&](JsonCursor& cursor) { return cursor.value(value); }));
    recorder.take_devices(value);
    return {};
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
